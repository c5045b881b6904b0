import { readBits, readFlag, readSigned, readUnsigned } from './bits.ts';
import type { Bits } from './bits.ts';
import { refuse, within } from '../refusal.ts';
import { DEFAULT_LISTS, FLAT_LISTS, readScalingLists } from './scaling-lists.ts';
import type { ScalingLists } from './scaling-lists.ts';

/** The limit of level 5.1, for example 4096x2304 pixels. It bounds the time and the memory of a call. */
const MACROBLOCKS_MAX = 36_864;
/** In macroblocks, or in pairs of rows for interlaced streams. */
const SIDE_MAX = 1024;
const CYCLE_MAX = 255;
const LISTS = 8;
const EXTENDED_ASPECT = 255;
const MATRIX_UNKNOWN = 2;
/** The profiles that have a sample format in their parameter sets (7.3.2.1.1). */
const HIGH_PROFILES: ReadonlySet<number> = new Set([100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135]);

/** The visible part of a picture, in luma samples. */
export interface Crop {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The conversion of samples into colours: matrix_coefficients of Table E-5. */
export interface Colours {
  readonly matrix: number;
  readonly fullRange: boolean;
}

/** The fields of a sequence parameter set that a key frame needs. */
export interface Sequence {
  readonly id: number;
  readonly lists: ScalingLists | undefined;
  readonly frameNumberBits: number;
  readonly orderType: number;
  readonly orderBits: number;
  readonly orderDeltas: boolean;
  readonly framesOnly: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly crop: Crop;
  readonly colours: Colours;
}

/** The scaling lists of a picture without its own, and the fallback of a picture's own lists. */
export const sequenceLists = ({ lists }: Sequence): ScalingLists => lists ?? FLAT_LISTS;
export const fallbackLists = ({ lists }: Sequence): ScalingLists => lists ?? DEFAULT_LISTS;

export function readSequence(bits: Bits): Sequence {
  const profile = readBits(bits, 8);
  readBits(bits, 16);
  const id = within(readUnsigned(bits), 0, 31);
  const lists = HIGH_PROFILES.has(profile) ? readSampleFormat(bits) : undefined;
  const frameNumberBits = within(readUnsigned(bits) + 4, 4, 16);
  const order = readOrder(bits);
  readUnsigned(bits);
  readFlag(bits);
  return { id, lists, frameNumberBits, ...order, ...readShape(bits) };
}

/** Refuses other formats than 4:2:0 with eight bits, and lossless coding. */
function readSampleFormat(bits: Bits): ScalingLists | undefined {
  if (readUnsigned(bits) !== 1) refuse('unsupported', 'not 4:2:0');
  if (readUnsigned(bits) !== 0 || readUnsigned(bits) !== 0) refuse('unsupported', 'more than eight bits');
  if (readFlag(bits)) refuse('unsupported', 'lossless');
  return readFlag(bits) ? readScalingLists(bits, LISTS, DEFAULT_LISTS) : undefined;
}

function readOrder(bits: Bits): Pick<Sequence, 'orderType' | 'orderBits' | 'orderDeltas'> {
  const orderType = within(readUnsigned(bits), 0, 2);
  if (orderType === 0) return { orderType, orderBits: within(readUnsigned(bits) + 4, 4, 16), orderDeltas: false };
  if (orderType === 2) return { orderType, orderBits: 0, orderDeltas: false };
  const alwaysZero = readFlag(bits);
  readSigned(bits);
  readSigned(bits);
  const cycle = within(readUnsigned(bits), 0, CYCLE_MAX);
  for (let index = 0; index < cycle; index += 1) readSigned(bits);
  return { orderType, orderBits: 0, orderDeltas: !alwaysZero };
}

function readShape(bits: Bits): Pick<Sequence, 'framesOnly' | 'columns' | 'rows' | 'crop' | 'colours'> {
  const columns = readUnsigned(bits) + 1;
  const units = readUnsigned(bits) + 1;
  if (Math.max(columns, units) > SIDE_MAX) refuse('too_large', 'a side is too long');
  const framesOnly = readFlag(bits);
  if (!framesOnly && readFlag(bits)) refuse('unsupported', 'frames and fields mixed');
  const unitRows = framesOnly ? 1 : 2;
  const rows = units * unitRows;
  if (columns * rows > MACROBLOCKS_MAX) refuse('too_large', 'too many macroblocks');
  readFlag(bits);
  const [left, right, top, bottom] = readFlag(bits)
    ? [readUnsigned(bits), readUnsigned(bits), readUnsigned(bits), readUnsigned(bits)]
    : [0, 0, 0, 0];
  const width = within(columns * 16 - 2 * (left + right), 1, columns * 16);
  const height = within(rows * 16 - 2 * unitRows * (top + bottom), 1, rows * 16);
  const crop = { left: 2 * left, top: 2 * unitRows * top, width, height };
  return {
    framesOnly,
    columns,
    rows,
    crop,
    colours: readFlag(bits) ? readColours(bits) : { matrix: MATRIX_UNKNOWN, fullRange: false },
  };
}

/** Reads the start of the VUI (E.1.1). The rest is about timing. */
function readColours(bits: Bits): Colours {
  if (readFlag(bits) && readBits(bits, 8) === EXTENDED_ASPECT) readBits(bits, 32);
  if (readFlag(bits)) readFlag(bits);
  if (!readFlag(bits)) return { matrix: MATRIX_UNKNOWN, fullRange: false };
  readBits(bits, 3);
  const fullRange = readFlag(bits);
  if (!readFlag(bits)) return { matrix: MATRIX_UNKNOWN, fullRange };
  readBits(bits, 16);
  return { matrix: readBits(bits, 8), fullRange };
}
