import { CHROMA_DC, INTRA_16X16, INTRA_8X8, LUMA_16X16_DC, LUMA_8X8, computeOffset } from '../picture/frame.ts';
import type { CurrentMacroblock } from '../picture/frame.ts';
import { refuse } from '../refusal.ts';
import type { Bits } from '../stream/bits.ts';
import { bin, bypassBin, checkEngine, newEngine, restart, terminateBin } from './cabac-engine.ts';
import type { Engine } from './cabac-engine.ts';
import { LARGE_LAST, LARGE_SIGNIFICANT, LAST_CONTEXTS, SIGNIFICANT_CONTEXTS, SIZE_CONTEXTS } from './cabac-tables.ts';
import { FIRST_LEVEL, LEVEL_COUNT } from './syntax.ts';
import type { Syntax } from './syntax.ts';

const PREFIX_MAX = 14;
const SUFFIX_MAX = 20;
const POSITIONS = new Int32Array(64);

const PCM_TYPE = 25;
const QP_DELTA_MAX = 2 * 26;
const CODED_CONTEXTS: readonly number[] = [85, 89, 93, 97, 101];
const OTHER_CONTEXTS = {
  mode: 68,
  restMode: 69,
  type: 3,
  qpDelta: 60,
  chromaMode: 64,
  luma: 73,
  chroma: 77,
  transform8x8: 399,
} as const;

/** The macroblocks of a slice in CABAC (9.3). */
export function cabacSyntax(current: CurrentMacroblock, bits: Bits, qp: number): Syntax {
  const engine = newEngine(bits, qp);
  const levels = new Int32Array(64);
  const { frame } = current;
  let lastDelta = 0;
  let delta = 0;

  function macroblockType(): number {
    checkEngine(engine);
    lastDelta = delta;
    delta = 0;
    return readType(
      engine,
      near(current, (address) => (frame.kinds[address] as number) >= INTRA_16X16),
    );
  }

  function qpDelta(): number {
    let count = 0;
    while (
      bin(engine, OTHER_CONTEXTS.qpDelta + (count === 0 ? (lastDelta === 0 ? 0 : 1) : Math.min(count, 2) + 1)) === 1
    ) {
      count += 1;
      if (count > QP_DELTA_MAX) refuse('corrupt', 'no such quantiser');
    }
    delta = count % 2 === 0 ? 0 - count / 2 : (count + 1) / 2;
    return delta;
  }

  function chromaMode(): number {
    const context = OTHER_CONTEXTS.chromaMode;
    const around = near(current, (address) => frame.chromaModes[address] !== 0);
    if (bin(engine, context + (around & 1) + (around >> 1)) === 0) return 0;
    if (bin(engine, context + 3) === 0) return 1;
    return 2 + bin(engine, context + 3);
  }

  function transform8x8(): boolean {
    const around = near(current, (address) => frame.kinds[address] === INTRA_8X8);
    return bin(engine, OTHER_CONTEXTS.transform8x8 + (around & 1) + (around >> 1)) === 1;
  }

  function block(kind: number, plane: number, x: number, y: number): number {
    if (kind === LUMA_8X8) markCoded8x8(current, x, y);
    else if (bin(engine, computeCodedContext({ current, kind, plane }, x, y)) === 0) return 0;
    if (kind === LUMA_16X16_DC || kind === CHROMA_DC)
      frame.dcFlags[current.address] = (frame.dcFlags[current.address] as number) | (1 << plane);
    else markCoded(current, plane, x, y);
    return readLevels(engine, kind, levels);
  }

  return {
    levels,
    macroblockType,
    transform8x8,
    mode: () => readMode(engine),
    chromaMode,
    pattern: () => readPattern(engine, current),
    qpDelta,
    samples: (count) => readSamples(engine, count),
    block,
    isSliceEnd: () => terminateBin(engine),
  };
}

/** Tests the macroblock to the left (bit 0) and the one above (bit 1). */
function near({ address, left, above, frame }: CurrentMacroblock, so: (address: number) => boolean): number {
  return (left && so(address - 1) ? 1 : 0) + (above && so(address - frame.columns) ? 2 : 0);
}

function readMode(engine: Engine): number {
  if (bin(engine, OTHER_CONTEXTS.mode) === 1) return -1;
  const context = OTHER_CONTEXTS.restMode;
  const low = bin(engine, context);
  const middle = bin(engine, context);
  return low + 2 * middle + 4 * bin(engine, context);
}

function readType(engine: Engine, around: number): number {
  const context = OTHER_CONTEXTS.type;
  if (bin(engine, context + (around & 1) + (around >> 1)) === 0) return 0;
  if (terminateBin(engine)) return PCM_TYPE;
  let type = 1 + 12 * bin(engine, context + 3);
  if (bin(engine, context + 4) === 1) type += 4 + 4 * bin(engine, context + 5);
  type += 2 * bin(engine, context + 6);
  return type + bin(engine, context + 7);
}

function readPattern(engine: Engine, current: CurrentMacroblock): number {
  const { patterns } = current.frame;
  const left = current.left ? (patterns[current.address - 1] as number) : 15;
  const above = current.above ? (patterns[current.address - current.frame.columns] as number) : 15;
  let luma = 0;
  for (let part = 0; part < 4; part += 1) {
    const before = (part & 1) === 0 ? (left >> (part + 1)) & 1 : (luma >> (part - 1)) & 1;
    const over = part < 2 ? (above >> (part + 2)) & 1 : (luma >> (part - 2)) & 1;
    luma |= bin(engine, OTHER_CONTEXTS.luma + (1 - before) + 2 * (1 - over)) << part;
  }
  const some = near(current, (address) => (patterns[address] as number) >> 4 > 0);
  if (bin(engine, OTHER_CONTEXTS.chroma + some) === 0) return luma;
  const all = near(current, (address) => (patterns[address] as number) >> 4 === 2);
  return luma + 16 * (1 + bin(engine, OTHER_CONTEXTS.chroma + 4 + all));
}

function readSamples(engine: Engine, count: number): Uint8Array {
  const { bits } = engine;
  const from = (bits.position + 7) >> 3;
  if (8 * (from + count) > bits.end + 8) refuse('corrupt', 'the data end early');
  bits.position = 8 * (from + count);
  restart(engine);
  return bits.bytes.subarray(from, from + count);
}

interface BlockPlace {
  readonly current: CurrentMacroblock;
  readonly kind: number;
  readonly plane: number;
}

/** ctxIdxInc of coded_block_flag (9.3.3.1.1.9): a block outside the slice counts as coded. */
function computeCodedContext({ current, kind, plane }: BlockPlace, x: number, y: number): number {
  const { frame, address } = current;
  const base = CODED_CONTEXTS[kind] as number;
  if (kind === LUMA_16X16_DC || kind === CHROMA_DC) {
    const left = current.left ? ((frame.dcFlags[address - 1] as number) >> plane) & 1 : 1;
    return base + left + 2 * (current.above ? ((frame.dcFlags[address - frame.columns] as number) >> plane) & 1 : 1);
  }
  const grid = frame.counts[plane as 0 | 1 | 2];
  const at = computeOffset(grid, current, plane === 0 ? 4 : 2) + y * grid.stride + x;
  const before = (x === 0 && !current.left) || (grid.cells[at - 1] as number) > 0;
  const over = (y === 0 && !current.above) || (grid.cells[at - grid.stride] as number) > 0;
  return base + (before ? 1 : 0) + (over ? 2 : 0);
}

function markCoded(current: CurrentMacroblock, plane: number, x: number, y: number): void {
  const grid = current.frame.counts[plane as 0 | 1 | 2];
  grid.cells[computeOffset(grid, current, plane === 0 ? 4 : 2) + y * grid.stride + x] = 1;
}

function markCoded8x8(current: CurrentMacroblock, x: number, y: number): void {
  for (let part = 0; part < 4; part += 1) markCoded(current, 0, x + (part & 1), y + (part >> 1));
}

/** Reads a coded block (7.3.5.3.3) and returns the number of its levels. */
function readLevels(engine: Engine, kind: number, levels: Int32Array): number {
  const count = kind === LUMA_8X8 ? readPositions8x8(engine) : readPositions(engine, kind);
  const first = FIRST_LEVEL[kind] as number;
  const contexts = SIZE_CONTEXTS[kind] as number;
  const moreMax = kind === CHROMA_DC ? 3 : 4;
  let ones = 0;
  let more = 0;
  for (let index = count - 1; index >= 0; index -= 1) {
    const next = contexts + (more > 0 ? 0 : Math.min(4, 1 + ones));
    let size = 1;
    if (bin(engine, next) === 0) {
      ones += 1;
    } else {
      size = readSize(engine, contexts + 5 + Math.min(moreMax, more));
      more += 1;
    }
    levels[first + (POSITIONS[index] as number)] = bypassBin(engine) === 1 ? -size : size;
  }
  return count;
}

function readPositions(engine: Engine, kind: number): number {
  const last = (LEVEL_COUNT[kind] as number) - 1;
  const significant = SIGNIFICANT_CONTEXTS[kind] as number;
  const final = LAST_CONTEXTS[kind] as number;
  const stepMax = kind === CHROMA_DC ? 2 : last;
  let count = 0;
  for (let position = 0; position < last; position += 1) {
    const step = Math.min(position, stepMax);
    if (bin(engine, significant + step) === 1) {
      POSITIONS[count] = position;
      count += 1;
      if (bin(engine, final + step) === 1) return count;
    }
  }
  POSITIONS[count] = last;
  return count + 1;
}

function readPositions8x8(engine: Engine): number {
  const significant = SIGNIFICANT_CONTEXTS[LUMA_8X8] as number;
  const final = LAST_CONTEXTS[LUMA_8X8] as number;
  let count = 0;
  for (let position = 0; position < 63; position += 1) {
    if (bin(engine, significant + (LARGE_SIGNIFICANT[position] as number)) === 1) {
      POSITIONS[count] = position;
      count += 1;
      if (bin(engine, final + (LARGE_LAST[position] as number)) === 1) return count;
    }
  }
  POSITIONS[count] = 63;
  return count + 1;
}

/** Reads a size of two or more: a unary prefix and, after fourteen ones, an Exp-Golomb suffix (9.3.2.3). */
function readSize(engine: Engine, context: number): number {
  let size = 2;
  while (size <= PREFIX_MAX && bin(engine, context) === 1) size += 1;
  if (size <= PREFIX_MAX) return size;
  let bits = 0;
  while (bypassBin(engine) === 1) {
    size += 1 << bits;
    bits += 1;
    if (bits > SUFFIX_MAX) refuse('corrupt', 'a level is too long');
  }
  for (let bit = bits - 1; bit >= 0; bit -= 1) size += bypassBin(engine) << bit;
  return size;
}
