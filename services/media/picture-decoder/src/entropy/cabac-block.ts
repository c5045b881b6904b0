import { bin, bypassBin } from './cabac-engine.ts';
import type { Engine } from './cabac-engine.ts';
import { LARGE_LAST, LARGE_SIGNIFICANT, LAST_CONTEXTS, SIGNIFICANT_CONTEXTS, SIZE_CONTEXTS } from './cabac-tables.ts';
import { CHROMA_DC, LUMA_8X8 } from '../picture/frame.ts';
import { refuse } from '../refusal.ts';
import { FIRST_LEVEL, LEVEL_COUNT } from './syntax.ts';

const PREFIX_MAX = 14;
const SUFFIX_MAX = 20;
const POSITIONS = new Int32Array(64);

/** Reads a coded block (7.3.5.3.3) and returns the number of its levels. */
export function readLevels(engine: Engine, kind: number, levels: Int32Array): number {
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

/** A size of two or more: ones, and behind fourteen of them an Exp-Golomb number (9.3.2.3). */
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
