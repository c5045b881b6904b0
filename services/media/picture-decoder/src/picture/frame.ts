import type { EdgeFilter } from '../stream/slice-header.ts';

/** How a macroblock is predicted: by blocks of 4x4, of 8x8, as a whole, or not at all. */
export const SMALL = 0;
export const LARGE = 1;
export const WHOLE = 2;
export const RAW = 3;

/** The mode of a block whose neighbours say nothing: the mean. */
export const MEAN_MODE = 2;

/** A block kind is its ctxBlockCat of Table 9-42. */
export const WHOLE_DC = 0;
export const WHOLE_AC = 1;
export const SMALL_LUMA = 2;
export const CHROMA_DC = 3;
export const CHROMA_AC = 4;
export const LARGE_LUMA = 5;

/** Samples or figures in rows. */
export interface Grid {
  readonly cells: Uint8Array;
  readonly stride: number;
}

/** A picture in the making. Figures are kept by macroblock, unless they say otherwise. */
export interface Frame {
  readonly columns: number;
  readonly rows: number;
  /** Y, Cb, Cr. */
  readonly planes: readonly [Grid, Grid, Grid];
  /** The number of the slice, from 1; 0 where nothing came yet. */
  readonly slices: Int32Array;
  readonly filters: EdgeFilter[];
  readonly kinds: Uint8Array;
  /** The quantiser of Y, Cb, Cr, as the smoothing of edges uses it. */
  readonly qps: readonly [Uint8Array, Uint8Array, Uint8Array];
  /** Coded block pattern: four bits of luma, above them 0 to 2 of chroma. */
  readonly patterns: Uint8Array;
  readonly chromaModes: Uint8Array;
  /** Which planes have levels among their means: bit 0 for Y. */
  readonly means: Uint8Array;
  /** Prediction modes, by luma block of 4x4. */
  readonly modes: Grid;
  /** How many levels each 4x4 block of Y, Cb, Cr has. */
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
    means: figures(),
    modes: grid(4),
    counts: [grid(4), grid(2), grid(2)],
  };
}

/** The macroblock that is being decoded, and which neighbours it may look at: those of its own slice. */
export interface Place {
  readonly frame: Frame;
  address: number;
  x: number;
  y: number;
  left: boolean;
  above: boolean;
  aboveLeft: boolean;
  aboveRight: boolean;
}

export function newPlace(frame: Frame): Place {
  return { frame, address: 0, x: 0, y: 0, left: false, above: false, aboveLeft: false, aboveRight: false };
}

/** Goes to a macroblock and makes it one of the slice, with nothing coded so far. */
export function enter(place: Place, address: number, slice: number): void {
  const { frame } = place;
  const { columns, slices } = frame;
  place.address = address;
  place.x = address % columns;
  place.y = (address - place.x) / columns;
  slices[address] = slice;
  place.left = place.x > 0 && slices[address - 1] === slice;
  place.above = slices[address - columns] === slice;
  place.aboveLeft = place.x > 0 && slices[address - columns - 1] === slice;
  place.aboveRight = place.x < columns - 1 && slices[address - columns + 1] === slice;
  frame.means[address] = 0;
  frame.chromaModes[address] = 0;
  fillSquare(frame.modes, place, 4, MEAN_MODE);
  setCounts(place, 0);
}

export function setCounts(place: Place, count: number): void {
  const [luma, cb, cr] = place.frame.counts;
  fillSquare(luma, place, 4, count);
  fillSquare(cb, place, 2, count);
  fillSquare(cr, place, 2, count);
}

/** Where a macroblock's cell is in a grid with so many of them to its side. */
export function cellOf({ stride }: Grid, place: Place, side: number): number {
  return place.y * side * stride + place.x * side;
}

function fillSquare(grid: Grid, place: Place, side: number, value: number): void {
  const from = cellOf(grid, place, side);
  for (let row = 0; row < side; row += 1)
    grid.cells.fill(value, from + row * grid.stride, from + row * grid.stride + side);
}
