import type { EdgeFilter } from '../stream/slice-header.ts';

/** The prediction type of a macroblock. I_PCM is not predicted. */
export const INTRA_4X4 = 0;
export const INTRA_8X8 = 1;
export const INTRA_16X16 = 2;
export const I_PCM = 3;

/** The DC mode: the default of a block without available neighbours. */
export const DC_MODE = 2;

/** A block kind is its ctxBlockCat of Table 9-42. */
export const LUMA_16X16_DC = 0;
export const LUMA_16X16_AC = 1;
export const LUMA_4X4 = 2;
export const CHROMA_DC = 3;
export const CHROMA_AC = 4;
export const LUMA_8X8 = 5;

/** Samples, or values of blocks, in rows. */
export interface Grid {
  readonly cells: Uint8Array;
  readonly stride: number;
}

/** A picture while it is decoded. Arrays have an element for each macroblock unless their comment says otherwise. */
export interface Frame {
  readonly columns: number;
  readonly rows: number;
  /** Y, Cb, Cr. */
  readonly planes: readonly [Grid, Grid, Grid];
  /** The number of the slice, counted from 1, or 0 for a macroblock that is not decoded yet. */
  readonly slices: Int32Array;
  readonly filters: EdgeFilter[];
  readonly kinds: Uint8Array;
  /** The quantiser of Y, Cb, Cr, as the deblocking filter uses it. */
  readonly qps: readonly [Uint8Array, Uint8Array, Uint8Array];
  /** Coded block pattern: four bits of luma, above them 0 to 2 of chroma. */
  readonly patterns: Uint8Array;
  readonly chromaModes: Uint8Array;
  /** The planes with nonzero DC coefficients: bit 0 for Y. */
  readonly dcFlags: Uint8Array;
  /** Prediction modes, by luma block of 4x4. */
  readonly modes: Grid;
  /** The number of levels of each 4x4 block of Y, Cb, Cr. */
  readonly counts: readonly [Grid, Grid, Grid];
}

export function newFrame(columns: number, rows: number): Frame {
  const macroblocks = columns * rows;
  const figures = (): Uint8Array => new Uint8Array(macroblocks);
  const grid = (cells: number): Grid => ({
    cells: new Uint8Array(macroblocks * cells * cells),
    stride: columns * cells,
  });
  return {
    columns,
    rows,
    planes: [grid(16), grid(8), grid(8)],
    slices: new Int32Array(macroblocks),
    filters: [],
    kinds: figures(),
    qps: [figures(), figures(), figures()],
    patterns: figures(),
    chromaModes: figures(),
    dcFlags: figures(),
    modes: grid(4),
    counts: [grid(4), grid(2), grid(2)],
  };
}

/** The current macroblock. A neighbour is available if it belongs to the same slice. */
export interface CurrentMacroblock {
  readonly frame: Frame;
  address: number;
  x: number;
  y: number;
  left: boolean;
  above: boolean;
  aboveLeft: boolean;
  aboveRight: boolean;
}

export function newCurrentMacroblock(frame: Frame): CurrentMacroblock {
  return { frame, address: 0, x: 0, y: 0, left: false, above: false, aboveLeft: false, aboveRight: false };
}

/** Moves to a macroblock and resets it as a macroblock of the slice. */
export function enterMacroblock(current: CurrentMacroblock, address: number, slice: number): void {
  const { frame } = current;
  const { columns, slices } = frame;
  current.address = address;
  current.x = address % columns;
  current.y = (address - current.x) / columns;
  slices[address] = slice;
  current.left = current.x > 0 && slices[address - 1] === slice;
  current.above = slices[address - columns] === slice;
  current.aboveLeft = current.x > 0 && slices[address - columns - 1] === slice;
  current.aboveRight = current.x < columns - 1 && slices[address - columns + 1] === slice;
  frame.dcFlags[address] = 0;
  frame.chromaModes[address] = 0;
  fillSquare(frame.modes, current, 4, DC_MODE);
  setCounts(current, 0);
}

export function setCounts(current: CurrentMacroblock, count: number): void {
  const [luma, cb, cr] = current.frame.counts;
  fillSquare(luma, current, 4, count);
  fillSquare(cb, current, 2, count);
  fillSquare(cr, current, 2, count);
}

/** The offset of the current macroblock in a grid with `side` cells for each side of a macroblock. */
export function computeOffset({ stride }: Grid, current: CurrentMacroblock, side: number): number {
  return current.y * side * stride + current.x * side;
}

function fillSquare(grid: Grid, current: CurrentMacroblock, side: number, value: number): void {
  const from = computeOffset(grid, current, side);
  for (let row = 0; row < side; row += 1)
    grid.cells.fill(value, from + row * grid.stride, from + row * grid.stride + side);
}
