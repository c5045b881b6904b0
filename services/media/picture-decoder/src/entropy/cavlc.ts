import { moreData, peek, readBits, readFlag, readSigned, readUnsigned, skip } from '../stream/bits.ts';
import type { Bits } from '../stream/bits.ts';
import { CHROMA_TOKENS, CHROMA_ZEROS, LEVEL_TOKENS, PATTERNS, RUNS, TOTAL_ZEROS } from './cavlc-tables.ts';
import type { PrefixCode } from './cavlc-tables.ts';
import { computeOffset, CHROMA_DC, LUMA_8X8, LUMA_4X4, LUMA_16X16_DC } from '../picture/frame.ts';
import type { CurrentMacroblock } from '../picture/frame.ts';
import { refuse, within } from '../refusal.ts';
import { FIRST_LEVEL, LEVEL_COUNT } from './syntax.ts';
import type { Syntax } from './syntax.ts';

const PREFIX_MAX = 24;
const SUFFIX_MAX = 6;
const RUNS_TABLE_MAX = 7;

/** The macroblocks of a slice in CAVLC (9.2). */
export function cavlcSyntax(current: CurrentMacroblock, bits: Bits): Syntax {
  const levels = new Int32Array(64);
  const found = new Int32Array(16);
  const quarter = new Int32Array(16);

  function block(kind: number, plane: number, x: number, y: number): number {
    if (kind === LUMA_8X8) return block8x8(x, y);
    return readBlock({ bits, found, into: levels, kind }, tokensOf(kind, plane, x, y), { current, plane, x, y });
  }

  /** An 8x8 block is coded as four 4x4 blocks with interleaved levels. */
  function block8x8(x: number, y: number): number {
    let count = 0;
    for (let part = 0; part < 4; part += 1) {
      const at = { current, plane: 0, x: x + (part & 1), y: y + (part >> 1) };
      count += readBlock({ bits, found, into: quarter, kind: LUMA_4X4 }, tokensOf(LUMA_4X4, 0, at.x, at.y), at);
      for (let index = 0; index < 16; index += 1) levels[4 * index + part] = quarter[index] as number;
      quarter.fill(0);
    }
    return count;
  }

  function tokensOf(kind: number, plane: number, x: number, y: number): PrefixCode {
    if (kind === CHROMA_DC) return CHROMA_TOKENS;
    const count = nearCount({ current, plane, x, y });
    return LEVEL_TOKENS[count < 2 ? 0 : count < 4 ? 1 : count < 8 ? 2 : 3] ?? CHROMA_TOKENS;
  }

  function samples(count: number): Uint8Array {
    const from = (bits.position + 7) >> 3;
    bits.position = 8 * from;
    skip(bits, 8 * count);
    return bits.bytes.subarray(from, from + count);
  }

  return {
    levels,
    macroblockType: () => within(readUnsigned(bits), 0, 25),
    transform8x8: () => readFlag(bits),
    mode: () => (readFlag(bits) ? -1 : readBits(bits, 3)),
    chromaMode: () => within(readUnsigned(bits), 0, 3),
    pattern: () => PATTERNS[readUnsigned(bits)] ?? refuse('corrupt', 'no such pattern'),
    qpDelta: () => within(readSigned(bits), -26, 25),
    samples,
    block,
    isSliceEnd: () => !moreData(bits),
  };
}

interface BlockAt {
  readonly current: CurrentMacroblock;
  readonly plane: number;
  readonly x: number;
  readonly y: number;
}

/** nC of 9.2.1: the mean count of the blocks to the left and above. */
function nearCount({ current, plane, x, y }: BlockAt): number {
  const grid = current.frame.counts[plane as 0 | 1 | 2];
  const at = computeOffset(grid, current, plane === 0 ? 4 : 2) + y * grid.stride + x;
  const left = x > 0 || current.left;
  const above = y > 0 || current.above;
  const leftCount = left ? (grid.cells[at - 1] as number) : 0;
  const aboveCount = above ? (grid.cells[at - grid.stride] as number) : 0;
  return left && above ? (leftCount + aboveCount + 1) >> 1 : leftCount + aboveCount;
}

interface BlockRead {
  readonly bits: Bits;
  readonly found: Int32Array;
  readonly into: Int32Array;
  readonly kind: number;
}

function readBlock(read: BlockRead, tokens: PrefixCode, at: BlockAt): number {
  const token = readCode(read.bits, tokens);
  const count = token >> 2;
  const { kind } = read;
  if (kind !== LUMA_16X16_DC && kind !== CHROMA_DC) {
    const grid = at.current.frame.counts[at.plane as 0 | 1 | 2];
    grid.cells[computeOffset(grid, at.current, at.plane === 0 ? 4 : 2) + at.y * grid.stride + at.x] = count;
  }
  if (count === 0) return 0;
  const size = LEVEL_COUNT[kind] as number;
  if (count > size) refuse('corrupt', 'more levels than a block holds');
  readLevels(read, count, token & 3);
  placeLevels(read, count, size);
  return count;
}

function readCode(bits: Bits, code: PrefixCode): number {
  const entry = code.entries[peek(bits, code.bits)] as number;
  if (entry === 0) refuse('corrupt', 'no such code');
  skip(bits, entry & 31);
  return entry >> 5;
}

/** Reads the levels, the last in the scan first (9.2.2). */
function readLevels({ bits, found }: BlockRead, count: number, ones: number): void {
  let suffixBits = count > 10 && ones < 3 ? 1 : 0;
  for (let index = 0; index < count; index += 1) {
    if (index < ones) {
      found[index] = readFlag(bits) ? -1 : 1;
    } else {
      const code = readLevelCode(bits, suffixBits) + (index === ones && ones < 3 ? 2 : 0);
      const size = (code >> 1) + 1;
      found[index] = code % 2 === 0 ? size : -size;
      suffixBits = Math.max(suffixBits, 1);
      if (size > 3 << (suffixBits - 1) && suffixBits < SUFFIX_MAX) suffixBits += 1;
    }
  }
}

function readLevelCode(bits: Bits, suffixBits: number): number {
  const prefix = Math.clz32(peek(bits, 25)) - 7;
  if (prefix > PREFIX_MAX) refuse('corrupt', 'a level is too long');
  skip(bits, prefix + 1);
  if (prefix < 14) return (prefix << suffixBits) + readBits(bits, suffixBits);
  if (prefix === 14) return (prefix << suffixBits) + readBits(bits, suffixBits === 0 ? 4 : suffixBits);
  const long = (15 << suffixBits) + readBits(bits, prefix - 3) + (suffixBits === 0 ? 15 : 0);
  return prefix === 15 ? long : long + (1 << (prefix - 3)) - 4096;
}

/** Writes the levels to their positions between the zeros (9.2.3). */
function placeLevels({ bits, found, into, kind }: BlockRead, count: number, size: number): void {
  const table = kind === CHROMA_DC ? CHROMA_ZEROS : TOTAL_ZEROS;
  let zeros = count < size ? readCode(bits, table[count - 1] as PrefixCode) : 0;
  if (zeros + count > size) refuse('corrupt', 'more zeros than a block holds');
  let at = (FIRST_LEVEL[kind] as number) + zeros + count - 1;
  for (let index = 0; index < count; index += 1) {
    into[at] = found[index] as number;
    const run =
      zeros > 0 && index < count - 1 ? readCode(bits, RUNS[Math.min(zeros, RUNS_TABLE_MAX) - 1] as PrefixCode) : 0;
    if (run > zeros) refuse('corrupt', 'a run is too long');
    zeros -= run;
    at -= run + 1;
  }
}
