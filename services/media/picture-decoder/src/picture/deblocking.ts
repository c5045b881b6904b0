import { INTRA_8X8 } from './frame.ts';
import type { Frame, Grid } from './frame.ts';
import type { EdgeFilter } from '../stream/slice-header.ts';
import { clip } from '../macroblock/transforms.ts';

/** Tables 8-16 and 8-17 from index 16. Below it no edge is filtered. */
const FROM = 16;
const ALPHA = [
  4, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 17, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90, 101, 113, 127, 144,
  162, 182, 203, 226, 255, 255,
];
const BETA = [
  2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 16, 17, 17,
  18, 18,
];
/** tC0 for boundary strength 3. */
const REACH = [
  0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 6, 6, 7, 8, 9, 10, 11, 13, 14, 16, 18, 20, 23, 25,
];
const NONE = 1;
const WITHIN_SLICE = 2;

/** An edge of intra blocks: boundary strength 4 around a macroblock, 3 within it. */
interface Edge {
  readonly cells: Uint8Array;
  /** The first sample behind the edge, the step along it and the step across it. */
  readonly at: number;
  readonly along: number;
  readonly across: number;
  readonly length: number;
  readonly luma: boolean;
  readonly outer: boolean;
  readonly alpha: number;
  readonly beta: number;
  readonly reach: number;
}

/** Filters the edges of all blocks (8.7), macroblock by macroblock. */
export function filterEdges(frame: Frame): void {
  for (let address = 0; address < frame.slices.length; address += 1) {
    const filter = frame.filters[(frame.slices[address] as number) - 1];
    if (filter !== undefined && filter.mode !== NONE) filterMacroblock(frame, address, filter);
  }
}

function filterMacroblock(frame: Frame, address: number, filter: EdgeFilter): void {
  const { columns, slices } = frame;
  const open = (other: number): boolean => filter.mode !== WITHIN_SLICE || slices[other] === slices[address];
  const left = address % columns > 0 && open(address - 1);
  const above = address >= columns && open(address - columns);
  for (const plane of [0, 1, 2] as const) {
    filterPlane(frame, address, { filter, plane, neighbour: left ? address - 1 : -1, down: false });
    filterPlane(frame, address, { filter, plane, neighbour: above ? address - columns : -1, down: true });
  }
}

interface Side {
  readonly filter: EdgeFilter;
  readonly plane: 0 | 1 | 2;
  /** The macroblock across the outer edge, below zero if that edge is not filtered. */
  readonly neighbour: number;
  readonly down: boolean;
}

function filterPlane(frame: Frame, address: number, { filter, plane, neighbour, down }: Side): void {
  const grid: Grid = frame.planes[plane];
  const luma = plane === 0;
  const side = luma ? 16 : 8;
  const column = address % frame.columns;
  const at = ((address - column) / frame.columns) * side * grid.stride + column * side;
  const [along, across] = down ? [1, grid.stride] : [grid.stride, 1];
  const qps = frame.qps[plane];
  const step = luma && frame.kinds[address] === INTRA_8X8 ? 8 : 4;
  for (let offset = neighbour < 0 ? step : 0; offset < side; offset += step) {
    const own = qps[address] as number;
    const qp = offset === 0 ? (own + (qps[neighbour] as number) + 1) >> 1 : own;
    const strength = lookUpStrength(qp, filter);
    if (strength.alpha > 0)
      filterEdge({
        ...strength,
        cells: grid.cells,
        at: at + offset * across,
        along,
        across,
        length: side,
        luma,
        outer: offset === 0,
      });
  }
}

function lookUpStrength(qp: number, { alphaOffset, betaOffset }: EdgeFilter): Pick<Edge, 'alpha' | 'beta' | 'reach'> {
  const index = Math.min(51, qp + alphaOffset) - FROM;
  return { alpha: ALPHA[index] ?? 0, beta: BETA[Math.min(51, qp + betaOffset) - FROM] ?? 0, reach: REACH[index] ?? 0 };
}

function filterEdge(edge: Edge): void {
  const { cells, across, alpha, beta } = edge;
  const end = edge.at + edge.length * edge.along;
  for (let at = edge.at; at < end; at += edge.along) {
    const p0 = cells[at - across] as number;
    const q0 = cells[at] as number;
    const p1 = cells[at - 2 * across] as number;
    const q1 = cells[at + across] as number;
    if (Math.abs(p0 - q0) < alpha && Math.abs(p1 - p0) < beta && Math.abs(q1 - q0) < beta) filterSample(edge, at);
  }
}

function filterSample(edge: Edge, at: number): void {
  const { cells, across, luma, outer } = edge;
  if (outer && luma) {
    const near = Math.abs((cells[at - across] as number) - (cells[at] as number)) < (edge.alpha >> 2) + 2;
    const [p0, p1, p2] = computeStrongSide(edge, at - across, [-across, across], near);
    const [q0, q1, q2] = computeStrongSide(edge, at, [across, -across], near);
    put(cells, at - across, -across, [p0, p1, p2]);
    put(cells, at, across, [q0, q1, q2]);
  } else if (outer) {
    const p0 = cells[at - across] as number;
    const p1 = cells[at - 2 * across] as number;
    const q0 = cells[at] as number;
    const q1 = cells[at + across] as number;
    cells[at - across] = (2 * p1 + p0 + q1 + 2) >> 2;
    cells[at] = (2 * q1 + q0 + p1 + 2) >> 2;
  } else {
    filterWeakSample(edge, at);
  }
}

/** The three new samples of one side (8.7.2.4), the nearest first. `away` steps from the edge, `over` across it. */
function computeStrongSide(
  { cells, beta }: Edge,
  at: number,
  [away, over]: readonly [number, number],
  near: boolean,
): readonly [number, number, number] {
  const p0 = cells[at] as number;
  const p1 = cells[at + away] as number;
  const p2 = cells[at + 2 * away] as number;
  const p3 = cells[at + 3 * away] as number;
  const q0 = cells[at + over] as number;
  const q1 = cells[at + 2 * over] as number;
  if (!near || Math.abs(p2 - p0) >= beta) return [(2 * p1 + p0 + q1 + 2) >> 2, p1, p2];
  return [
    (p2 + 2 * p1 + 2 * p0 + 2 * q0 + q1 + 4) >> 3,
    (p2 + p1 + p0 + q0 + 2) >> 2,
    (2 * p3 + 3 * p2 + p1 + p0 + q0 + 4) >> 3,
  ];
}

function put(
  cells: Uint8Array,
  at: number,
  step: number,
  [first, second, third]: readonly [number, number, number],
): void {
  cells[at] = first;
  cells[at + step] = second;
  cells[at + 2 * step] = third;
}

/** Filters with boundary strength below 4 (8.7.2.3). */
function filterWeakSample({ cells, across, luma, beta, reach }: Edge, at: number): void {
  const p0 = cells[at - across] as number;
  const p1 = cells[at - 2 * across] as number;
  const p2 = cells[at - 3 * across] as number;
  const q0 = cells[at] as number;
  const q1 = cells[at + across] as number;
  const q2 = cells[at + 2 * across] as number;
  const before = luma && Math.abs(p2 - p0) < beta;
  const behind = luma && Math.abs(q2 - q0) < beta;
  const most = luma ? reach + (before ? 1 : 0) + (behind ? 1 : 0) : reach + 1;
  const delta = limit((((q0 - p0) << 2) + (p1 - q1) + 4) >> 3, most);
  const middle = (p0 + q0 + 1) >> 1;
  if (before) cells[at - 2 * across] = p1 + limit((p2 + middle - 2 * p1) >> 1, reach);
  if (behind) cells[at + across] = q1 + limit((q2 + middle - 2 * q1) >> 1, reach);
  cells[at - across] = clip(p0 + delta);
  cells[at] = clip(q0 - delta);
}

function limit(value: number, most: number): number {
  return Math.max(-most, Math.min(most, value));
}
