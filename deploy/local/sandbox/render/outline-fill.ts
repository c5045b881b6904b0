import type { PathCommand } from 'opentype.js';

/** The share of each pixel that a shape covers (0 to 255), and the position of its top left corner. */
export type Coverage = {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly alpha: Uint8Array;
};

type Point = { readonly x: number; readonly y: number };
type Edge = { readonly top: Point; readonly bottom: Point; readonly winding: 1 | -1 };

const curvePieces = 8;
const scansPerPixel = 6;
const nothing: Coverage = { left: 0, top: 0, width: 0, height: 0, alpha: new Uint8Array(0) };

/** Fills an outline by the non-zero rule, with several scan lines to a pixel and exact coverage along each line. */
export function fillOutline(commands: readonly PathCommand[]): Coverage {
  const edges = toEdges(commands);
  if (edges.length === 0) return nothing;
  const ends = edges.flatMap((edge) => [edge.top, edge.bottom]);
  const left = Math.floor(Math.min(...ends.map((point) => point.x)));
  const top = Math.floor(Math.min(...ends.map((point) => point.y)));
  const width = Math.ceil(Math.max(...ends.map((point) => point.x))) - left + 1;
  const height = Math.ceil(Math.max(...ends.map((point) => point.y))) - top + 1;

  const covered = new Float32Array(width * height);
  for (let scan = 0; scan < height * scansPerPixel; scan += 1) {
    const y = top + (scan + 0.5) / scansPerPixel;
    const row = covered.subarray(Math.floor(scan / scansPerPixel) * width).subarray(0, width);
    for (const [from, to] of findSpans(edges, y)) coverSpan(row, from - left, to - left);
  }
  const alpha = Uint8Array.from(covered, (sum) => Math.min(255, Math.round((sum * 255) / scansPerPixel)));
  return { left, top, width, height, alpha };
}

function toEdges(commands: readonly PathCommand[]): readonly Edge[] {
  const edges: Edge[] = [];
  let start: Point = { x: 0, y: 0 };
  let pen = start;
  const lineTo = (to: Point): void => {
    if (to.y > pen.y) edges.push({ top: pen, bottom: to, winding: 1 });
    if (to.y < pen.y) edges.push({ top: to, bottom: pen, winding: -1 });
    pen = to;
  };
  for (const command of commands) {
    if (command.type === 'Z') lineTo(start);
    else if (command.type === 'M') pen = start = { x: command.x, y: command.y };
    else for (const point of flatten(pen, command)) lineTo(point);
  }
  return edges;
}

function flatten(from: Point, command: Exclude<PathCommand, { type: 'Z' }>): readonly Point[] {
  const to = { x: command.x, y: command.y };
  if (command.type === 'M' || command.type === 'L') return [to];
  const first = { x: command.x1, y: command.y1 };
  const second = command.type === 'C' ? { x: command.x2, y: command.y2 } : undefined;
  const at = (axis: 'x' | 'y', t: number): number =>
    second === undefined
      ? (1 - t) ** 2 * from[axis] + 2 * (1 - t) * t * first[axis] + t ** 2 * to[axis]
      : (1 - t) ** 3 * from[axis] +
        3 * (1 - t) ** 2 * t * first[axis] +
        3 * (1 - t) * t ** 2 * second[axis] +
        t ** 3 * to[axis];
  return Array.from({ length: curvePieces }, (_, piece) => ({
    x: at('x', (piece + 1) / curvePieces),
    y: at('y', (piece + 1) / curvePieces),
  }));
}

function findSpans(edges: readonly Edge[], y: number): readonly (readonly [number, number])[] {
  const crossings = edges
    .filter((edge) => edge.top.y <= y && y < edge.bottom.y)
    .map(({ top, bottom, winding }) => ({
      x: top.x + ((bottom.x - top.x) * (y - top.y)) / (bottom.y - top.y),
      winding,
    }))
    .sort((one, other) => one.x - other.x);
  const spans: [number, number][] = [];
  let winding = 0;
  let from = 0;
  for (const crossing of crossings) {
    const before = winding;
    winding += crossing.winding;
    if (before === 0) from = crossing.x;
    else if (winding === 0) spans.push([from, crossing.x]);
  }
  return spans;
}

function coverSpan(row: Float32Array, from: number, to: number): void {
  for (let x = Math.floor(from); x < to; x += 1) {
    row[x] = (row[x] ?? 0) + Math.min(to, x + 1) - Math.max(from, x);
  }
}
