import { moreData, readBits, readFlag, readSigned, readUnsigned } from './bits.ts';
import type { Bits } from './bits.ts';
import { refuse, within } from '../refusal.ts';
import { readScalingLists } from './scaling-lists.ts';
import type { ScalingLists } from './scaling-lists.ts';
import { fallbackLists, sequenceLists } from './sequence.ts';
import type { Sequence } from './sequence.ts';

const SMALL_LISTS = 6;
const LARGE_LISTS = 2;

/** A picture parameter set, as far as a key picture needs it, with the sequence that it names. */
export interface PictureParameters {
  readonly sequence: Sequence;
  readonly arithmetic: boolean;
  readonly bottomOrder: boolean;
  readonly qp: number;
  /** Of Cb and of Cr. */
  readonly chromaQpOffsets: readonly [number, number];
  readonly filterControl: boolean;
  readonly redundant: boolean;
  readonly largeTransform: boolean;
  readonly lists: ScalingLists;
}

export function readPictureId(bits: Bits): number {
  return within(readUnsigned(bits), 0, 255);
}

/** Reads on behind the set's own id. */
export function readPictureParameters(bits: Bits, sequences: ReadonlyMap<number, Sequence>): PictureParameters {
  const sequence = sequences.get(readUnsigned(bits)) ?? refuse('corrupt', 'no such sequence');
  const arithmetic = readFlag(bits);
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
  return { sequence, arithmetic, bottomOrder, qp, filterControl, redundant, ...readExtension(bits, sequence, offset) };
}

type Extension = Pick<PictureParameters, 'largeTransform' | 'lists' | 'chromaQpOffsets'>;

function readExtension(bits: Bits, sequence: Sequence, offset: number): Extension {
  if (!moreData(bits))
    return { largeTransform: false, lists: sequenceLists(sequence), chromaQpOffsets: [offset, offset] };
  const largeTransform = readFlag(bits);
  const lists = readFlag(bits)
    ? readScalingLists(bits, SMALL_LISTS + (largeTransform ? LARGE_LISTS : 0), fallbackLists(sequence))
    : sequenceLists(sequence);
  return { largeTransform, lists, chromaQpOffsets: [offset, within(readSigned(bits), -12, 12)] };
}
