import { peek } from '../stream/bits.ts';
import type { Bits } from '../stream/bits.ts';
import { NEXT_STATE_LPS, CONTEXTS, RANGES_LPS, INITIAL_CONTEXTS } from './cabac-tables.ts';
import { refuse } from '../refusal.ts';

const STATE_MAX = 62;
const WINDOW_BITS = 9;
/** The most bits that the engine reads ahead. */
const AHEAD_MAX = 64;

/** The arithmetic decoder of 9.3.1.2. A state is twice its index plus its most probable symbol. */
export interface Engine {
  readonly bits: Bits;
  readonly states: Uint8Array;
  range: number;
  offset: number;
}

export function newEngine(bits: Bits, qp: number): Engine {
  const states = new Uint8Array(CONTEXTS);
  for (const [first, pairs] of INITIAL_CONTEXTS) {
    for (let index = 0; index < pairs.length; index += 2)
      states[first + index / 2] = startState(pairs[index] ?? 0, pairs[index + 1] ?? 0, qp);
  }
  const engine: Engine = { bits, states, range: 0, offset: 0 };
  restart(engine);
  return engine;
}

function startState(slope: number, base: number, qp: number): number {
  const start = Math.min(126, Math.max(1, ((slope * qp) >> 4) + base));
  return start <= 63 ? 2 * (63 - start) : 2 * (start - 64) + 1;
}

/** Restarts at the next byte boundary. */
export function restart(engine: Engine): void {
  engine.bits.position = (engine.bits.position + 7) & ~7;
  engine.range = 510;
  engine.offset = take(engine.bits, WINDOW_BITS);
}

function take(bits: Bits, count: number): number {
  const value = peek(bits, count);
  bits.position += count;
  return value;
}

/** Refuses when the engine has read beyond the end. The caller checks it once for each macroblock. */
export function checkEngine({ bits }: Engine): void {
  if (bits.position > bits.end + AHEAD_MAX) refuse('corrupt', 'the data end early');
}

export function bin(engine: Engine, context: number): number {
  const state = engine.states[context] as number;
  const lps = RANGES_LPS[((state >> 1) << 2) + ((engine.range >> 6) & 3)] as number;
  const mps = state & 1;
  engine.range -= lps;
  if (engine.offset < engine.range) {
    if (state >> 1 < STATE_MAX) engine.states[context] = state + 2;
    if (engine.range < 256) renormalise(engine);
    return mps;
  }
  engine.offset -= engine.range;
  engine.range = lps;
  engine.states[context] = ((NEXT_STATE_LPS[state >> 1] as number) << 1) | (state < 2 ? 1 - mps : mps);
  renormalise(engine);
  return 1 - mps;
}

function renormalise(engine: Engine): void {
  const shift = Math.clz32(engine.range) - 23;
  engine.range <<= shift;
  engine.offset = (engine.offset << shift) | take(engine.bits, shift);
}

export function bypassBin(engine: Engine): number {
  engine.offset = (engine.offset << 1) | take(engine.bits, 1);
  if (engine.offset < engine.range) return 0;
  engine.offset -= engine.range;
  return 1;
}

export function terminateBin(engine: Engine): boolean {
  engine.range -= 2;
  if (engine.offset >= engine.range) return true;
  if (engine.range < 256) renormalise(engine);
  return false;
}
