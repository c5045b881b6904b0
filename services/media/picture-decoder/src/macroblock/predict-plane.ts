import type { Grid } from '../picture/frame.ts';
import { clip } from './transforms.ts';

/** A plane of a macroblock to predict, and which of its neighbours are available. */
export interface Whole {
  readonly grid: Grid;
  readonly at: number;
  readonly side: number;
  readonly left: boolean;
  readonly above: boolean;
}

const NOTHING_KNOWN = 128;

export function predictVertical({ grid, at, side }: Whole): void {
  const { cells, stride } = grid;
  for (let row = 0; row < side; row += 1) {
    for (let x = 0; x < side; x += 1) cells[at + row * stride + x] = cells[at - stride + x] as number;
  }
}

export function predictHorizontal({ grid, at, side }: Whole): void {
  const { cells, stride } = grid;
  for (let row = at; row < at + side * stride; row += stride) cells.fill(cells[row - 1] as number, row, row + side);
}

/** The mean of all neighbours (8.3.3.3). */
export function predictDc(whole: Whole): void {
  const { left, above, side } = whole;
  fill(whole, 0, side, mean(left ? sumLeft(whole, 0, side) : -1, above ? sumAbove(whole, 0, side) : -1, side));
}

/** The plane mode (8.3.3.4, 8.3.4.4). */
export function predictPlane({ grid, at, side }: Whole): void {
  const { cells, stride } = grid;
  const half = side / 2;
  const above = at - stride;
  let across = 0;
  let down = 0;
  for (let step = 1; step <= half; step += 1) {
    across += step * ((cells[above + half - 1 + step] as number) - (cells[above + half - 1 - step] as number));
    down +=
      step *
      ((cells[at - 1 + (half - 1 + step) * stride] as number) - (cells[at - 1 + (half - 1 - step) * stride] as number));
  }
  const factor = side === 16 ? 5 : 34;
  const base = 16 * ((cells[at - 1 + (side - 1) * stride] as number) + (cells[above + side - 1] as number)) + 16;
  const b = (factor * across + 32) >> 6;
  const c = (factor * down + 32) >> 6;
  for (let y = 0; y < side; y += 1) {
    for (let x = 0; x < side; x += 1)
      cells[at + y * stride + x] = clip((base + b * (x - half + 1) + c * (y - half + 1)) >> 5);
  }
}

/** The mean of each block's neighbours (8.3.4.1 to 8.3.4.3). Blocks off the diagonal prefer one side. */
export function predictChromaDc(whole: Whole): void {
  for (let part = 0; part < 4; part += 1) {
    const x = 4 * (part & 1);
    const y = 4 * (part >> 1);
    const left = whole.left ? sumLeft(whole, y, 4) : -1;
    const above = whole.above ? sumAbove(whole, x, 4) : -1;
    const onlyAbove = x > 0 && y === 0 && whole.above;
    const onlyLeft = x === 0 && y > 0 && whole.left;
    fill(whole, x + y * whole.grid.stride, 4, mean(onlyAbove ? -1 : left, onlyLeft ? -1 : above, 4));
  }
}

/** The mean of two sums of `count` samples each. A sum below zero is missing. */
function mean(left: number, above: number, count: number): number {
  if (left < 0 && above < 0) return NOTHING_KNOWN;
  if (left < 0 || above < 0) return Math.floor((Math.max(left, above) + count / 2) / count);
  return Math.floor((left + above + count) / (2 * count));
}

function sumLeft({ grid, at }: Whole, from: number, count: number): number {
  let sum = 0;
  for (let row = from; row < from + count; row += 1) sum += grid.cells[at - 1 + row * grid.stride] as number;
  return sum;
}

function sumAbove({ grid, at }: Whole, from: number, count: number): number {
  let sum = 0;
  for (let x = from; x < from + count; x += 1) sum += grid.cells[at - grid.stride + x] as number;
  return sum;
}

function fill({ grid, at }: Whole, offset: number, side: number, value: number): void {
  for (let row = 0; row < side; row += 1)
    grid.cells.fill(value, at + offset + row * grid.stride, at + offset + row * grid.stride + side);
}
