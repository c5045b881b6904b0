import type { Bits } from '../stream/bits.ts';
import { readLevels } from './cabac-block.ts';
import { bin, checkEngine, endBin, openEngine, restart } from './cabac-engine.ts';
import type { Engine } from './cabac-engine.ts';
import { cellOf, CHROMA_DC, LARGE, LARGE_LUMA, WHOLE, WHOLE_DC } from '../picture/frame.ts';
import type { Place } from '../picture/frame.ts';
import { refuse } from '../refusal.ts';
import type { Syntax } from './syntax.ts';

const RAW_TYPE = 25;
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
  largeTransform: 399,
} as const;

/** The macroblocks of a slice in arithmetic code (9.3). */
export function cabacSyntax(place: Place, bits: Bits, qp: number): Syntax {
  const engine = openEngine(bits, qp);
  const levels = new Int32Array(64);
  const { frame } = place;
  let lastDelta = 0;
  let delta = 0;

  function macroblockType(): number {
    checkEngine(engine);
    lastDelta = delta;
    delta = 0;
    return readType(
      engine,
      near(place, (address) => (frame.kinds[address] as number) >= WHOLE),
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

  function mode(): number {
    if (bin(engine, OTHER_CONTEXTS.mode) === 1) return -1;
    const context = OTHER_CONTEXTS.restMode;
    const low = bin(engine, context);
    const middle = bin(engine, context);
    return low + 2 * middle + 4 * bin(engine, context);
  }

  function chromaMode(): number {
    const context = OTHER_CONTEXTS.chromaMode;
    const around = near(place, (address) => frame.chromaModes[address] !== 0);
    if (bin(engine, context + (around & 1) + (around >> 1)) === 0) return 0;
    if (bin(engine, context + 3) === 0) return 1;
    return 2 + bin(engine, context + 3);
  }

  function largeTransform(): boolean {
    const around = near(place, (address) => frame.kinds[address] === LARGE);
    return bin(engine, OTHER_CONTEXTS.largeTransform + (around & 1) + (around >> 1)) === 1;
  }

  function block(kind: number, plane: number, x: number, y: number): number {
    if (kind === LARGE_LUMA) markLarge(place, x, y);
    else if (bin(engine, codedContext({ place, kind, plane }, x, y)) === 0) return 0;
    if (kind === WHOLE_DC || kind === CHROMA_DC)
      frame.means[place.address] = (frame.means[place.address] as number) | (1 << plane);
    else markCoded(place, plane, x, y);
    return readLevels(engine, kind, levels);
  }

  return {
    levels,
    macroblockType,
    largeTransform,
    mode,
    chromaMode,
    pattern: () => readPattern(engine, place),
    qpDelta,
    samples: (count) => readSamples(engine, count),
    block,
    ended: () => endBin(engine),
  };
}

/** Whether something is so of the macroblock to the left (1) and of that above (2). */
function near({ address, left, above, frame }: Place, so: (address: number) => boolean): number {
  return (left && so(address - 1) ? 1 : 0) + (above && so(address - frame.columns) ? 2 : 0);
}

function readType(engine: Engine, around: number): number {
  const context = OTHER_CONTEXTS.type;
  if (bin(engine, context + (around & 1) + (around >> 1)) === 0) return 0;
  if (endBin(engine)) return RAW_TYPE;
  let type = 1 + 12 * bin(engine, context + 3);
  if (bin(engine, context + 4) === 1) type += 4 + 4 * bin(engine, context + 5);
  type += 2 * bin(engine, context + 6);
  return type + bin(engine, context + 7);
}

function readPattern(engine: Engine, place: Place): number {
  const { patterns } = place.frame;
  const left = place.left ? (patterns[place.address - 1] as number) : 15;
  const above = place.above ? (patterns[place.address - place.frame.columns] as number) : 15;
  let luma = 0;
  for (let part = 0; part < 4; part += 1) {
    const before = (part & 1) === 0 ? (left >> (part + 1)) & 1 : (luma >> (part - 1)) & 1;
    const over = part < 2 ? (above >> (part + 2)) & 1 : (luma >> (part - 2)) & 1;
    luma |= bin(engine, OTHER_CONTEXTS.luma + (1 - before) + 2 * (1 - over)) << part;
  }
  const some = near(place, (address) => (patterns[address] as number) >> 4 > 0);
  if (bin(engine, OTHER_CONTEXTS.chroma + some) === 0) return luma;
  const all = near(place, (address) => (patterns[address] as number) >> 4 === 2);
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

interface BlockOf {
  readonly place: Place;
  readonly kind: number;
  readonly plane: number;
}

/** ctxIdxInc of coded_block_flag (9.3.3.1.1.9): what lies outside the slice counts as coded. */
function codedContext({ place, kind, plane }: BlockOf, x: number, y: number): number {
  const { frame, address } = place;
  const base = CODED_CONTEXTS[kind] as number;
  if (kind === WHOLE_DC || kind === CHROMA_DC) {
    const left = place.left ? ((frame.means[address - 1] as number) >> plane) & 1 : 1;
    return base + left + 2 * (place.above ? ((frame.means[address - frame.columns] as number) >> plane) & 1 : 1);
  }
  const grid = frame.counts[plane as 0 | 1 | 2];
  const at = cellOf(grid, place, plane === 0 ? 4 : 2) + y * grid.stride + x;
  const before = (x === 0 && !place.left) || (grid.cells[at - 1] as number) > 0;
  const over = (y === 0 && !place.above) || (grid.cells[at - grid.stride] as number) > 0;
  return base + (before ? 1 : 0) + (over ? 2 : 0);
}

function markCoded(place: Place, plane: number, x: number, y: number): void {
  const grid = place.frame.counts[plane as 0 | 1 | 2];
  grid.cells[cellOf(grid, place, plane === 0 ? 4 : 2) + y * grid.stride + x] = 1;
}

function markLarge(place: Place, x: number, y: number): void {
  for (let part = 0; part < 4; part += 1) markCoded(place, 0, x + (part & 1), y + (part >> 1));
}
