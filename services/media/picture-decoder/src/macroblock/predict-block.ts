import type { Grid } from '../picture/frame.ts';

/**
 * The samples around a block in one line: the left ones from bottom to top, the corner, the upper ones from left to
 * right. The first and the last sample are repeated, so that each direction is one formula (8.3.1.2, 8.3.2.2).
 */
const CORNER = 16;
const LINE = 48;
const VERTICAL = 0;
const HORIZONTAL = 1;
const MEAN = 2;
const line = new Int32Array(LINE);
const smooth = new Int32Array(LINE);

/** A block to predict, and which of its neighbours are available. */
export interface Block {
  readonly grid: Grid;
  readonly at: number;
  readonly side: number;
  readonly left: boolean;
  readonly above: boolean;
  readonly corner: boolean;
  readonly aboveRight: boolean;
}

/**
 * The position in the line for each sample and direction: relative to the corner, doubled, plus one if three samples
 * are weighted instead of two.
 */
const DIRECTIONS: Readonly<Record<number, readonly Int32Array[]>> = { 4: directions(4), 8: directions(8) };

function directions(side: number): readonly Int32Array[] {
  const two = (position: number): number => 2 * position;
  const three = (position: number): number => 2 * position + 1;
  const byMode: readonly ((x: number, y: number) => number)[] = [
    (x, y) => three(x + y + 2),
    (x, y) => three(x - y),
    (x, y) => {
      const z = 2 * x - y;
      return z < 0 ? three(1 + z) : (y % 2 === 0 ? two : three)(x - (y >> 1));
    },
    (x, y) => {
      const z = 2 * y - x;
      return z < 0 ? three(-1 - z) : x % 2 === 0 ? two(-1 - y + (x >> 1)) : three((x >> 1) - y);
    },
    (x, y) => (y % 2 === 0 ? two(1 + x + (y >> 1)) : three(2 + x + (y >> 1))),
    (x, y) => (x % 2 === 0 ? two : three)(-2 - y - (x >> 1)),
  ];
  return byMode.map((position) =>
    Int32Array.from({ length: side * side }, (_, index) => position(index % side, Math.trunc(index / side))),
  );
}

/** Predicts a 4x4 or an 8x8 block. The neighbours of an 8x8 block are filtered first. */
export function predictBlock(block: Block, mode: number): void {
  readLine(block);
  if (block.side === 8) filterLine(block);
  const around = block.side === 8 ? smooth : line;
  if (mode === VERTICAL) fillBlock(block, (index) => around[CORNER + 1 + (index % block.side)] as number);
  else if (mode === HORIZONTAL)
    fillBlock(block, (index) => around[CORNER - 1 - Math.trunc(index / block.side)] as number);
  else if (mode === MEAN) fillMean(block, around);
  else fillDirection(block, around, DIRECTIONS[block.side]?.[mode - 3] ?? new Int32Array(0));
}

function readLine({ grid, at, side, left, above, corner, aboveRight }: Block): void {
  const { cells, stride } = grid;
  for (let index = 0; index < side; index += 1) {
    line[CORNER - 1 - index] = left ? (cells[at - 1 + index * stride] as number) : 0;
    line[CORNER + 1 + index] = above ? (cells[at - stride + index] as number) : 0;
  }
  const topEnd = CORNER + side;
  for (let index = 1; index <= side; index += 1)
    line[topEnd + index] = aboveRight ? (cells[at - stride + side - 1 + index] as number) : (line[topEnd] as number);
  line[CORNER] = corner ? (cells[at - stride - 1] as number) : 0;
  line.fill(line[topEnd + side] as number, topEnd + side + 1);
  line.fill(line[CORNER - side] as number, 0, CORNER - side);
}

/** Filters the neighbours of an 8x8 block. A missing neighbour of a sample is replaced by the sample (8.3.2.2.1). */
function filterLine({ side, left, above, corner }: Block): void {
  const mid = line[CORNER] as number;
  const first = line[CORNER + 1] as number;
  const below = line[CORNER - 1] as number;
  if (!corner) line[CORNER] = first;
  for (let at = CORNER + 1; at <= CORNER + 2 * side; at += 1) smooth[at] = three(line, at);
  if (!corner) line[CORNER] = below;
  for (let at = CORNER - side; at < CORNER; at += 1) smooth[at] = three(line, at);
  smooth[CORNER] = ((left ? below : mid) + 2 * mid + (above ? first : mid) + 2) >> 2;
  smooth.fill(smooth[CORNER + 2 * side] as number, CORNER + 2 * side + 1);
  smooth.fill(smooth[CORNER - side] as number, 0, CORNER - side);
}

function three(of: Int32Array, at: number): number {
  return ((of[at - 1] as number) + 2 * (of[at] as number) + (of[at + 1] as number) + 2) >> 2;
}

function fillBlock({ grid, at, side }: Block, sample: (index: number) => number): void {
  for (let index = 0; index < side * side; index += 1)
    grid.cells[at + Math.trunc(index / side) * grid.stride + (index % side)] = sample(index);
}

function fillMean(block: Block, around: Int32Array): void {
  const { side, left, above } = block;
  let sum = 0;
  for (let index = 1; index <= side; index += 1)
    sum += (left ? (around[CORNER - index] as number) : 0) + (above ? (around[CORNER + index] as number) : 0);
  const count = (left ? side : 0) + (above ? side : 0);
  const mean = count === 0 ? 128 : Math.floor((sum + count / 2) / count);
  fillBlock(block, () => mean);
}

function fillDirection({ grid, at, side }: Block, around: Int32Array, codes: Int32Array): void {
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] as number;
    const position = CORNER + (code >> 1);
    const sample =
      (code & 1) === 1
        ? three(around, position)
        : ((around[position] as number) + (around[position + 1] as number) + 1) >> 1;
    grid.cells[at + Math.trunc(index / side) * grid.stride + (index % side)] = sample;
  }
}
