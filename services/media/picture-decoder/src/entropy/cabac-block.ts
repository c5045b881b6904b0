import { bin, evenBin } from './cabac-engine.ts';
import type { Engine } from './cabac-engine.ts';
import { LARGE_LAST, LARGE_SIGNIFICANT, LAST_CONTEXTS, SIGNIFICANT_CONTEXTS, SIZE_CONTEXTS } from './cabac-tables.ts';
import { CHROMA_DC, LARGE_LUMA } from '../picture/frame.ts';
import { refuse } from '../refusal.ts';
import { FIRST_LEVEL, LEVEL_COUNT } from './syntax.ts';

const PREFIX_MAX = 14;
const SUFFIX_MAX = 20;
const PLACES = new Int32Array(64);

/** Reads a block that has levels (7.3.5.3.3) and says how many. */
export function readLevels(engine: Engine, kind: number, levels: Int32Array): number {
  const count = kind === LARGE_LUMA ? largePlaces(engine) : smallPlaces(engine, kind);
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
    levels[first + (PLACES[index] as number)] = evenBin(engine) === 1 ? -size : size;
  }
  return count;
}

function smallPlaces(engine: Engine, kind: number): number {
  const last = (LEVEL_COUNT[kind] as number) - 1;
  const significant = SIGNIFICANT_CONTEXTS[kind] as number;
  const final = LAST_CONTEXTS[kind] as number;
  const stepMax = kind === CHROMA_DC ? 2 : last;
  let count = 0;
  for (let place = 0; place < last; place += 1) {
    const step = Math.min(place, stepMax);
    if (bin(engine, significant + step) === 1) {
      PLACES[count] = place;
      count += 1;
      if (bin(engine, final + step) === 1) return count;
    }
  }
  PLACES[count] = last;
  return count + 1;
}

function largePlaces(engine: Engine): number {
  const significant = SIGNIFICANT_CONTEXTS[LARGE_LUMA] as number;
  const final = LAST_CONTEXTS[LARGE_LUMA] as number;
  let count = 0;
  for (let place = 0; place < 63; place += 1) {
    if (bin(engine, significant + (LARGE_SIGNIFICANT[place] as number)) === 1) {
      PLACES[count] = place;
      count += 1;
      if (bin(engine, final + (LARGE_LAST[place] as number)) === 1) return count;
    }
  }
  PLACES[count] = 63;
  return count + 1;
}

/** A size of two or more: ones, and behind fourteen of them an Exp-Golomb number (9.3.2.3). */
function readSize(engine: Engine, context: number): number {
  let size = 2;
  while (size <= PREFIX_MAX && bin(engine, context) === 1) size += 1;
  if (size <= PREFIX_MAX) return size;
  let bits = 0;
  while (evenBin(engine) === 1) {
    size += 1 << bits;
    bits += 1;
    if (bits > SUFFIX_MAX) refuse('corrupt', 'a level is too long');
  }
  for (let bit = bits - 1; bit >= 0; bit -= 1) size += evenBin(engine) << bit;
  return size;
}
