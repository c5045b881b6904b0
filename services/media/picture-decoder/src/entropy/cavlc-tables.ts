/**
 * A prefix code, indexed by the next bits. The low five bits of an entry are the length of its code, and the bits above
 * them are its value. An entry is 0 if there is no such code.
 */
export interface PrefixCode {
  readonly bits: number;
  readonly entries: Uint16Array;
}

const LENGTH_BITS = 5;

function prefixCode(lengths: readonly number[], codes: readonly number[]): PrefixCode {
  const bits = Math.max(...lengths);
  const entries = new Uint16Array(1 << bits);
  for (const [value, length] of lengths.entries()) {
    const from = (codes[value] ?? 0) << (bits - length);
    if (length > 0) entries.fill((value << LENGTH_BITS) | length, from, from + (1 << (bits - length)));
  }
  return { bits, entries };
}

/**
 * Table 9-5 by the number of levels a neighbourhood has: below 2, below 4, below 8, more; the value is four times the
 * levels plus the ones.
 */
export const LEVEL_TOKENS: readonly PrefixCode[] = [
  prefixCode(
    [
      1, 0, 0, 0, 6, 2, 0, 0, 8, 6, 3, 0, 9, 8, 7, 5, 10, 9, 8, 6, 11, 10, 9, 7, 13, 11, 10, 8, 13, 13, 11, 9, 13, 13,
      13, 10, 14, 14, 13, 11, 14, 14, 14, 13, 15, 15, 14, 14, 15, 15, 15, 14, 16, 15, 15, 15, 16, 16, 16, 15, 16, 16,
      16, 16, 16, 16, 16, 16,
    ],
    [
      1, 0, 0, 0, 5, 1, 0, 0, 7, 4, 1, 0, 7, 6, 5, 3, 7, 6, 5, 3, 7, 6, 5, 4, 15, 6, 5, 4, 11, 14, 5, 4, 8, 10, 13, 4,
      15, 14, 9, 4, 11, 10, 13, 12, 15, 14, 9, 12, 11, 10, 13, 8, 15, 1, 9, 12, 11, 14, 13, 8, 7, 10, 9, 12, 4, 6, 5, 8,
    ],
  ),
  prefixCode(
    [
      2, 0, 0, 0, 6, 2, 0, 0, 6, 5, 3, 0, 7, 6, 6, 4, 8, 6, 6, 4, 8, 7, 7, 5, 9, 8, 8, 6, 11, 9, 9, 6, 11, 11, 11, 7,
      12, 11, 11, 9, 12, 12, 12, 11, 12, 12, 12, 11, 13, 13, 13, 12, 13, 13, 13, 13, 13, 14, 13, 13, 14, 14, 14, 13, 14,
      14, 14, 14,
    ],
    [
      3, 0, 0, 0, 11, 2, 0, 0, 7, 7, 3, 0, 7, 10, 9, 5, 7, 6, 5, 4, 4, 6, 5, 6, 7, 6, 5, 8, 15, 6, 5, 4, 11, 14, 13, 4,
      15, 10, 9, 4, 11, 14, 13, 12, 8, 10, 9, 8, 15, 14, 13, 12, 11, 10, 9, 12, 7, 11, 6, 8, 9, 8, 10, 1, 7, 6, 5, 4,
    ],
  ),
  prefixCode(
    [
      4, 0, 0, 0, 6, 4, 0, 0, 6, 5, 4, 0, 6, 5, 5, 4, 7, 5, 5, 4, 7, 5, 5, 4, 7, 6, 6, 4, 7, 6, 6, 4, 8, 7, 7, 5, 8, 8,
      7, 6, 9, 8, 8, 7, 9, 9, 8, 8, 9, 9, 9, 8, 10, 9, 9, 9, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10,
    ],
    [
      15, 0, 0, 0, 15, 14, 0, 0, 11, 15, 13, 0, 8, 12, 14, 12, 15, 10, 11, 11, 11, 8, 9, 10, 9, 14, 13, 9, 8, 10, 9, 8,
      15, 14, 13, 13, 11, 14, 10, 12, 15, 10, 13, 12, 11, 14, 9, 12, 8, 10, 13, 8, 13, 7, 9, 12, 9, 12, 11, 10, 5, 8, 7,
      6, 1, 4, 3, 2,
    ],
  ),
  prefixCode(
    [6, 0, 0, 0, 6, 6, 0, 0, 6, 6, 6, 0, ...new Array<number>(56).fill(6)],
    [3, 0, 0, 0, 0, 1, 0, 0, 4, 5, 6, 0, ...Array.from({ length: 56 }, (_, index) => index + 8)],
  ),
];

/** The same for the four DC coefficients of a chroma plane. */
export const CHROMA_TOKENS = prefixCode(
  [2, 0, 0, 0, 6, 1, 0, 0, 6, 6, 3, 0, 6, 7, 7, 6, 6, 8, 8, 7],
  [1, 0, 0, 0, 7, 1, 0, 0, 4, 6, 1, 0, 3, 3, 2, 5, 2, 3, 2, 0],
);

/** Tables 9-7 and 9-8, by the number of levels less one: the zeros before the last level. */
export const TOTAL_ZEROS: readonly PrefixCode[] = [
  prefixCode([1, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 9], [1, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 3, 2, 1]),
  prefixCode([3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 6, 6], [7, 6, 5, 4, 3, 5, 4, 3, 2, 3, 2, 3, 2, 1, 0]),
  prefixCode([4, 3, 3, 3, 4, 4, 3, 3, 4, 5, 5, 6, 5, 6], [5, 7, 6, 5, 4, 3, 4, 3, 2, 3, 2, 1, 1, 0]),
  prefixCode([5, 3, 4, 4, 3, 3, 3, 4, 3, 4, 5, 5, 5], [3, 7, 5, 4, 6, 5, 4, 3, 3, 2, 2, 1, 0]),
  prefixCode([4, 4, 4, 3, 3, 3, 3, 3, 4, 5, 4, 5], [5, 4, 3, 7, 6, 5, 4, 3, 2, 1, 1, 0]),
  prefixCode([6, 5, 3, 3, 3, 3, 3, 3, 4, 3, 6], [1, 1, 7, 6, 5, 4, 3, 2, 1, 1, 0]),
  prefixCode([6, 5, 3, 3, 3, 2, 3, 4, 3, 6], [1, 1, 5, 4, 3, 3, 2, 1, 1, 0]),
  prefixCode([6, 4, 5, 3, 2, 2, 3, 3, 6], [1, 1, 1, 3, 3, 2, 2, 1, 0]),
  prefixCode([6, 6, 4, 2, 2, 3, 2, 5], [1, 0, 1, 3, 2, 1, 1, 1]),
  prefixCode([5, 5, 3, 2, 2, 2, 4], [1, 0, 1, 3, 2, 1, 1]),
  prefixCode([4, 4, 3, 3, 1, 3], [0, 1, 1, 2, 1, 3]),
  prefixCode([4, 4, 2, 1, 3], [0, 1, 1, 1, 1]),
  prefixCode([3, 3, 1, 2], [0, 1, 1, 1]),
  prefixCode([2, 2, 1], [0, 1, 1]),
  prefixCode([1, 1], [0, 1]),
];

/** Table 9-9 (a). */
export const CHROMA_ZEROS: readonly PrefixCode[] = [
  prefixCode([1, 2, 3, 3], [1, 1, 1, 0]),
  prefixCode([1, 2, 2], [1, 1, 0]),
  prefixCode([1, 1], [1, 0]),
];

/** Table 9-10, by the zeros that are left, at most seven, less one. */
export const RUNS: readonly PrefixCode[] = [
  prefixCode([1, 1], [1, 0]),
  prefixCode([1, 2, 2], [1, 1, 0]),
  prefixCode([2, 2, 2, 2], [3, 2, 1, 0]),
  prefixCode([2, 2, 2, 3, 3], [3, 2, 1, 1, 0]),
  prefixCode([2, 2, 3, 3, 3, 3], [3, 2, 3, 2, 1, 0]),
  prefixCode([2, 3, 3, 3, 3, 3, 3], [3, 0, 1, 3, 2, 5, 4]),
  prefixCode([3, 3, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11], [7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
];

/** Table 9-4 for intra macroblocks. */
export const PATTERNS: readonly number[] = [
  47, 31, 15, 0, 23, 27, 29, 30, 7, 11, 13, 14, 39, 43, 45, 46, 16, 3, 5, 10, 12, 19, 21, 26, 28, 35, 37, 42, 44, 1, 2,
  4, 8, 17, 18, 20, 24, 6, 9, 22, 25, 32, 33, 34, 36, 40, 38, 41,
];
