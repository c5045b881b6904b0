import type { Grid } from '../picture/frame.ts';

const SMALL_STEP = 4;
const LARGE_STEP = 8;

/** Adds the residual of a 4x4 block to its prediction (8.5.12.2), and clears it. */
export function add4x4(block: Int32Array, { cells, stride }: Grid, at: number): void {
  for (let row = 0; row < 16; row += 4) smallPass(block, row, 1);
  for (let column = 0; column < 4; column += 1) smallPass(block, column, SMALL_STEP);
  addBlock(block, 4, { cells, stride }, at);
}

/** The same for 8x8 (8.5.13.2). */
export function add8x8(block: Int32Array, grid: Grid, at: number): void {
  for (let row = 0; row < 64; row += 8) largePass(block, row, 1);
  for (let column = 0; column < 8; column += 1) largePass(block, column, LARGE_STEP);
  addBlock(block, 8, grid, at);
}

function addBlock(block: Int32Array, side: number, { cells, stride }: Grid, at: number): void {
  for (let index = 0; index < side * side; index += 1) {
    const cell = at + Math.trunc(index / side) * stride + (index % side);
    cells[cell] = clip((cells[cell] as number) + (((block[index] as number) + 32) >> 6));
    block[index] = 0;
  }
}

export function clip(value: number): number {
  if (value < 0) return 0;
  return value > 255 ? 255 : value;
}

function smallPass(block: Int32Array, at: number, step: number): void {
  const a = block[at] as number;
  const b = block[at + step] as number;
  const c = block[at + 2 * step] as number;
  const d = block[at + 3 * step] as number;
  const odd = (b >> 1) - d;
  const even = b + (d >> 1);
  block[at] = a + c + even;
  block[at + step] = a - c + odd;
  block[at + 2 * step] = a - c - odd;
  block[at + 3 * step] = a + c - even;
}

function largePass(block: Int32Array, at: number, step: number): void {
  const i0 = block[at] as number;
  const i1 = block[at + step] as number;
  const i2 = block[at + 2 * step] as number;
  const i3 = block[at + 3 * step] as number;
  const i4 = block[at + 4 * step] as number;
  const i5 = block[at + 5 * step] as number;
  const i6 = block[at + 6 * step] as number;
  const i7 = block[at + 7 * step] as number;
  const e1 = i5 - i3 - i7 - (i7 >> 1);
  const e3 = i1 + i7 - i3 - (i3 >> 1);
  const e5 = i7 - i1 + i5 + (i5 >> 1);
  const e7 = i3 + i5 + i1 + (i1 >> 1);
  const e4 = (i2 >> 1) - i6;
  const e6 = i2 + (i6 >> 1);
  const f0 = i0 + i4 + e6;
  const f1 = e1 + (e7 >> 2);
  const f2 = i0 - i4 + e4;
  const f3 = e3 + (e5 >> 2);
  const f4 = i0 - i4 - e4;
  const f5 = (e3 >> 2) - e5;
  const f6 = i0 + i4 - e6;
  const f7 = e7 - (e1 >> 2);
  block[at] = f0 + f7;
  block[at + step] = f2 + f5;
  block[at + 2 * step] = f4 + f3;
  block[at + 3 * step] = f6 + f1;
  block[at + 4 * step] = f6 - f1;
  block[at + 5 * step] = f4 - f3;
  block[at + 6 * step] = f2 - f5;
  block[at + 7 * step] = f0 - f7;
}

/** Transforms the sixteen DC coefficients of a luma macroblock in place, by rows (8.5.10). */
export function transformDc(dc: Int32Array, scale: number, qp: number): void {
  for (let row = 0; row < 16; row += 4) dcPass(dc, row, 1);
  for (let column = 0; column < 4; column += 1) dcPass(dc, column, SMALL_STEP);
  const shift = Math.floor(qp / 6) - 6;
  for (let index = 0; index < 16; index += 1) {
    const product = Math.imul(dc[index] as number, scale);
    dc[index] = shift < 0 ? (product + (1 << (-1 - shift))) >> -shift : product << shift;
  }
}

function dcPass(dc: Int32Array, at: number, step: number): void {
  const a = dc[at] as number;
  const b = dc[at + step] as number;
  const c = dc[at + 2 * step] as number;
  const d = dc[at + 3 * step] as number;
  dc[at] = a + b + c + d;
  dc[at + step] = a + b - c - d;
  dc[at + 2 * step] = a - b - c + d;
  dc[at + 3 * step] = a - b + c - d;
}

/** Transforms the four DC coefficients of a chroma plane in place (8.5.11). */
export function transformChromaDc(dc: Int32Array, scale: number, qp: number): void {
  const [a = 0, b = 0, c = 0, d = 0] = dc;
  const sums = [a + b + c + d, a - b + c - d, a + b - c - d, a - b - c + d];
  for (const [index, sum] of sums.entries()) dc[index] = (Math.imul(sum, scale) << Math.floor(qp / 6)) >> 5;
}
