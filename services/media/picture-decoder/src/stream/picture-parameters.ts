import { moreData, readBits, readFlag, readSigned, readUnsigned } from './bits.ts';
import type { Bits } from './bits.ts';
import { refuse, within } from '../refusal.ts';
import { readScalingLists } from './scaling-lists.ts';
import type { ScalingLists } from './scaling-lists.ts';
import { fallbackLists, sequenceLists } from './sequence.ts';
import type { Sequence } from './sequence.ts';

const SMALL_LISTS = 6;
const LARGE_LISTS = 2;

/** The fields of a picture parameter set that a key frame needs, with its sequence. */
export interface PictureParameters {
  readonly sequence: Sequence;
  readonly entropyCodingMode: boolean;
  readonly bottomOrder: boolean;
  readonly qp: number;
  /** The offsets of Cb and Cr. */
  readonly chromaQpOffsets: readonly [number, number];
  readonly filterControl: boolean;
  readonly redundant: boolean;
  readonly transform8x8: boolean;
  readonly lists: ScalingLists;
}

export function readPictureId(bits: Bits): number {
  return within(readUnsigned(bits), 0, 255);
}

/** Reads the rest of a set, after its id. */
export function readPictureParameters(bits: Bits, sequences: ReadonlyMap<number, Sequence>): PictureParameters {
  const sequence = sequences.get(readUnsigned(bits)) ?? refuse('corrupt', 'no such sequence');
  const entropyCodingMode = readFlag(bits);
  const bottomOrder = readFlag(bits);
  if (readUnsigned(bits) !== 0) refuse('unsupported', 'slice groups');
  readUnsigned(bits);
  readUnsigned(bits);
  readBits(bits, 3);
  const qp = within(readSigned(bits) + 26, 0, 51);
  readSigned(bits);
  const offset = within(readSigned(bits), -12, 12);
  const filterControl = readFlag(bits);
  readFlag(bits);
  const redundant = readFlag(bits);
  return {
    sequence,
    entropyCodingMode,
    bottomOrder,
    qp,
    filterControl,
    redundant,
    ...readExtension(bits, sequence, offset),
  };
}

type Extension = Pick<PictureParameters, 'transform8x8' | 'lists' | 'chromaQpOffsets'>;

function readExtension(bits: Bits, sequence: Sequence, offset: number): Extension {
  if (!moreData(bits))
    return { transform8x8: false, lists: sequenceLists(sequence), chromaQpOffsets: [offset, offset] };
  const transform8x8 = readFlag(bits);
  const lists = readFlag(bits)
    ? readScalingLists(bits, SMALL_LISTS + (transform8x8 ? LARGE_LISTS : 0), fallbackLists(sequence))
    : sequenceLists(sequence);
  return { transform8x8, lists, chromaQpOffsets: [offset, within(readSigned(bits), -12, 12)] };
}
