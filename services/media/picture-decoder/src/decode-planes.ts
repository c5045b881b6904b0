import { openBits } from './stream/bits.ts';
import type { DecodedPicture } from './picture/colours.ts';
import { newFrame } from './picture/frame.ts';
import type { Frame } from './picture/frame.ts';
import { nalUnits } from './stream/nal-units.ts';
import { refuse } from './refusal.ts';
import { readPictureId, readPictureParameters } from './stream/picture-parameters.ts';
import type { PictureParameters } from './stream/picture-parameters.ts';
import { readSequence } from './stream/sequence.ts';
import type { Sequence } from './stream/sequence.ts';
import { decodeSlice } from './macroblock/slice.ts';
import { readSliceHeader } from './stream/slice-header.ts';
import { filterEdges } from './picture/deblocking.ts';

const SLICE = 1;
const PARTITION = 2;
const IDR_SLICE = 5;
const SEQUENCE = 7;
const PARAMETERS = 8;
/** A set with all scaling lists has a few hundred bytes. It is parsed again for every slice. */
const SET_BYTES_MAX = 4096;

interface Stream {
  readonly sequences: Map<number, Sequence>;
  readonly parameters: Map<number, Uint8Array>;
  picture: { readonly frame: Frame; readonly sequence: Sequence; missing: number } | undefined;
}

/** Decodes the planes of a key frame. It throws a `Refusal` for bytes that it does not decode, and nothing else. */
export function decodePlanes(packet: Uint8Array, description: Uint8Array | undefined): DecodedPicture {
  const stream: Stream = { sequences: new Map(), parameters: new Map(), picture: undefined };
  for (const unit of nalUnits(packet, description)) takeUnit(stream, unit);
  const { picture } = stream;
  if (picture === undefined) return refuse('corrupt', 'no picture');
  if (picture.missing > 0) refuse('corrupt', 'macroblocks are missing');
  filterEdges(picture.frame);
  return { sequence: picture.sequence, planes: picture.frame.planes };
}

function takeUnit(stream: Stream, unit: Uint8Array): void {
  const type = (unit[0] ?? 0) & 31;
  if ((type === SEQUENCE || type === PARAMETERS) && unit.byteLength > SET_BYTES_MAX)
    refuse('too_large', 'a parameter set is too long');
  if (type === SEQUENCE) {
    const sequence = readSequence(openBits(unit));
    stream.sequences.set(sequence.id, sequence);
  } else if (type === PARAMETERS) {
    stream.parameters.set(readPictureId(openBits(unit)), unit);
  } else if (type === SLICE || type === IDR_SLICE) {
    takeSlice(stream, unit, type === IDR_SLICE);
  } else if (type === PARTITION) {
    refuse('unsupported', 'data partitions');
  }
}

function takeSlice(stream: Stream, unit: Uint8Array, key: boolean): void {
  const bits = openBits(unit);
  const header = readSliceHeader(bits, { key, referenced: ((unit[0] ?? 0) & 0x60) !== 0 }, (id) =>
    readParameters(stream, id),
  );
  if (header === undefined) return;
  const { sequence } = header.parameters;
  stream.picture ??= {
    frame: newFrame(sequence.columns, sequence.rows),
    sequence,
    missing: sequence.columns * sequence.rows,
  };
  const { picture } = stream;
  if (picture.sequence !== sequence) refuse('unsupported', 'two pictures');
  picture.missing -= decodeSlice(picture.frame, header, bits);
}

function readParameters({ sequences, parameters }: Stream, id: number): PictureParameters {
  const bits = openBits(parameters.get(id) ?? refuse('corrupt', 'no such parameters'));
  readPictureId(bits);
  return readPictureParameters(bits, sequences);
}
