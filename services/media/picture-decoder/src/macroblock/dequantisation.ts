import type { PictureParameters } from '../stream/picture-parameters.ts';

/** The zig-zag scans of frames (8.5.6 and 8.5.7): the position of each level in a block, by rows. */
export const SCAN_4X4 = new Uint8Array([0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15]);
export const SCAN_8X8 = new Uint8Array([
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47,
  55, 62, 63,
]);

/** v of 8-315 by the quantiser modulo six, for positions with even, odd and mixed coordinates. */
const STEPS_4X4: readonly (readonly [number, number, number])[] = [
  [10, 16, 13],
  [11, 18, 14],
  [13, 20, 16],
  [14, 23, 18],
  [16, 25, 20],
  [18, 29, 23],
];
/** v of 8-318. */
const STEPS_8X8: readonly (readonly number[])[] = [
  [20, 18, 32, 19, 25, 24],
  [22, 19, 35, 21, 28, 26],
  [26, 23, 42, 24, 33, 31],
  [28, 25, 45, 26, 35, 33],
  [32, 28, 51, 30, 40, 38],
  [36, 32, 58, 34, 46, 43],
];

/** LevelScale of 8.5.9 by the quantiser modulo six, in the order of the scan: of Y, Cb, Cr, and of 8x8. */
export interface LevelScales {
  readonly small: readonly (readonly Int32Array[])[];
  readonly large: readonly Int32Array[];
}

export function levelScales({ lists }: PictureParameters): LevelScales {
  return {
    small: lists.small.map((list) =>
      STEPS_4X4.map((steps) =>
        Int32Array.from(SCAN_4X4, (at, index) => (list[index] ?? 0) * smallStep(steps, at & 3, at >> 2)),
      ),
    ),
    large: STEPS_8X8.map((steps) =>
      Int32Array.from(SCAN_8X8, (at, index) => (lists.large[index] ?? 0) * (steps[largeStep(at & 7, at >> 3)] ?? 0)),
    ),
  };
}

function smallStep([even, odd, mixed]: readonly [number, number, number], x: number, y: number): number {
  if (x % 2 !== y % 2) return mixed;
  return x % 2 === 0 ? even : odd;
}

function largeStep(x: number, y: number): number {
  const [column, row] = [x % 4, y % 4];
  if (column % 2 === 1 && row % 2 === 1) return 1;
  if (column % 2 === 0 && row % 2 === 0) return column === row ? column : 4;
  return column === 0 || row === 0 ? 3 : 5;
}

export interface Scaling {
  readonly scale: Int32Array;
  readonly scan: Uint8Array;
  readonly qp: number;
  /** The extra bits of a scale. */
  readonly bits: number;
}

/** Moves levels into a block as coefficients, and resets them to zero (8.5.12.1, 8.5.13.1). */
export function scaleLevels(levels: Int32Array, into: Int32Array, { scale, scan, qp, bits }: Scaling): void {
  const shift = Math.floor(qp / 6) - bits;
  const round = shift < 0 ? 1 << (-1 - shift) : 0;
  for (let index = 0; index < scan.length; index += 1) {
    const level = levels[index] as number;
    if (level !== 0) {
      const product = Math.imul(level, scale[index] as number);
      into[scan[index] as number] = shift < 0 ? (product + round) >> -shift : product << shift;
      levels[index] = 0;
    }
  }
}
