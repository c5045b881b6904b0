import { readFlag, readSigned } from './bits.ts';
import type { Bits } from './bits.ts';

/** The scaling lists of intra blocks in scan order: luma, Cb and Cr of 4x4, and luma of 8x8. */
export interface ScalingLists {
  readonly small: readonly [readonly number[], readonly number[], readonly number[]];
  readonly large: readonly number[];
}

const SMALL = 16;
const LARGE = 64;
/** The first list of inter blocks, which no key frame uses, and the first 8x8 list. */
const FIRST_INTER = 3;
const FIRST_LARGE = 6;

const flat = (count: number): readonly number[] => new Array<number>(count).fill(16);

export const FLAT_LISTS: ScalingLists = { small: [flat(SMALL), flat(SMALL), flat(SMALL)], large: flat(LARGE) };

/** Table 7-3. */
const DEFAULT_SMALL = [6, 13, 13, 20, 20, 20, 28, 28, 28, 28, 32, 32, 32, 37, 37, 42];
/** Table 7-4. */
const DEFAULT_LARGE = [
  6, 10, 10, 13, 11, 13, 16, 16, 16, 16, 18, 18, 18, 18, 18, 23, 23, 23, 23, 23, 23, 25, 25, 25, 25, 25, 25, 25, 27, 27,
  27, 27, 27, 27, 27, 27, 29, 29, 29, 29, 29, 29, 29, 31, 31, 31, 31, 31, 31, 33, 33, 33, 33, 33, 36, 36, 36, 36, 38,
  38, 38, 40, 40, 42,
];

export const DEFAULT_LISTS: ScalingLists = {
  small: [DEFAULT_SMALL, DEFAULT_SMALL, DEFAULT_SMALL],
  large: DEFAULT_LARGE,
};

/**
 * Reads `count` lists. A missing list equals the list before it, and the first of its size equals the fallback
 * (7.4.2.1.1.1).
 */
export function readScalingLists(bits: Bits, count: number, fallback: ScalingLists): ScalingLists {
  const lists: (readonly number[])[] = [];
  for (let index = 0; index < count; index += 1) {
    const large = index >= FIRST_LARGE;
    const first = large ? fallback.large : fallback.small[0];
    const before = index % FIRST_INTER === 0 || large ? first : (lists[index - 1] ?? first);
    lists.push(readFlag(bits) ? readList(bits, large ? LARGE : SMALL) : before);
  }
  const [luma = DEFAULT_SMALL, cb = luma, cr = cb] = lists;
  return { small: [luma, cb, cr], large: lists[FIRST_LARGE] ?? fallback.large };
}

function readList(bits: Bits, size: number): readonly number[] {
  const list: number[] = [];
  let last = 8;
  let next = 8;
  for (let index = 0; index < size; index += 1) {
    if (next !== 0) {
      next = (last + readSigned(bits) + 256) & 255;
      if (index === 0 && next === 0) return size === SMALL ? DEFAULT_SMALL : DEFAULT_LARGE;
    }
    last = next === 0 ? last : next;
    list.push(last);
  }
  return list;
}
