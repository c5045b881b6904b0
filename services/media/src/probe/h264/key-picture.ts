import { openBits } from './bits.ts';
import { newFrame } from './frame.ts';
import type { Frame } from './frame.ts';
import { nalUnits } from './nal-units.ts';
import { NotDecoded, refuse } from './not-decoded.ts';
import { readPictureId, readPictureParameters } from './picture-parameters.ts';
import type { PictureParameters } from './picture-parameters.ts';
import { readSequence } from './sequence.ts';
import type { Sequence } from './sequence.ts';
import { decodeSlice } from './slice.ts';
import { readSliceHeader } from './slice-header.ts';
import { smoothEdges } from './smooth-edges.ts';

const SLICE = 1;
const PARTITION = 2;
const KEY_SLICE = 5;
const SEQUENCE = 7;
const PARAMETERS = 8;
/** A set with all its scaling lists is a few hundred bytes; it is read again for every slice. */
const SET_BYTES_MAX = 4096;

/** A picture of Y, Cb and Cr, and what of it is to be shown. */
export interface KeyPicture {
  readonly sequence: Sequence;
  readonly planes: Frame['planes'];
}

interface Stream {
  readonly sequences: Map<number, Sequence>;
  readonly parameters: Map<number, Uint8Array>;
  picture: { readonly frame: Frame; readonly sequence: Sequence; missing: number } | undefined;
}

/**
 * Decodes a key picture of H.264: baseline, main or high profile, a progressive frame, 4:2:0 of eight bits. `description` is the track's
 * decoder configuration; without one the packet has start codes. Nothing for what this decoder has not, and for broken data.
 */
export function decodeKeyPicture(packet: Uint8Array, description: Uint8Array | undefined): KeyPicture | undefined {
  try {
    const stream: Stream = { sequences: new Map(), parameters: new Map(), picture: undefined };
    for (const unit of nalUnits(packet, description)) takeUnit(stream, unit);
    const { picture } = stream;
    if (picture === undefined || picture.missing > 0) return undefined;
    smoothEdges(picture.frame);
    return { sequence: picture.sequence, planes: picture.frame.planes };
  } catch (cause) {
    if (cause instanceof NotDecoded) return undefined;
    throw cause;
  }
}

function takeUnit(stream: Stream, unit: Uint8Array): void {
  const type = (unit[0] ?? 0) & 31;
  if ((type === SEQUENCE || type === PARAMETERS) && unit.byteLength > SET_BYTES_MAX)
    refuse('a parameter set is too long');
  if (type === SEQUENCE) {
    const sequence = readSequence(openBits(unit));
    stream.sequences.set(sequence.id, sequence);
  } else if (type === PARAMETERS) {
    stream.parameters.set(readPictureId(openBits(unit)), unit);
  } else if (type === SLICE || type === KEY_SLICE) {
    takeSlice(stream, unit, type === KEY_SLICE);
  } else if (type === PARTITION) {
    refuse('data partitions');
  }
}

function takeSlice(stream: Stream, unit: Uint8Array, key: boolean): void {
  const bits = openBits(unit);
  const header = readSliceHeader(bits, { key, referenced: ((unit[0] ?? 0) & 0x60) !== 0 }, (id) =>
    parametersOf(stream, id),
  );
  if (header === undefined) return;
  const { sequence } = header.parameters;
  stream.picture ??= {
    frame: newFrame(sequence.columns, sequence.rows),
    sequence,
    missing: sequence.columns * sequence.rows,
  };
  const { picture } = stream;
  if (picture.sequence !== sequence) refuse('two pictures');
  picture.missing -= decodeSlice(picture.frame, header, bits);
}

function parametersOf({ sequences, parameters }: Stream, id: number): PictureParameters {
  const bits = openBits(parameters.get(id) ?? refuse('no such parameters'));
  readPictureId(bits);
  return readPictureParameters(bits, sequences);
}
