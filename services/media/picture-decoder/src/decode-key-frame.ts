import { cabacSyntax } from './entropy/cabac.ts';
import { cavlcSyntax } from './entropy/cavlc.ts';
import { setQp } from './macroblock/decoding.ts';
import type { Decoding } from './macroblock/decoding.ts';
import { levelScales } from './macroblock/dequantisation.ts';
import { decodeMacroblock } from './macroblock/macroblock.ts';
import { toRgb } from './picture/colours.ts';
import type { DecodedPicture, RgbPicture } from './picture/colours.ts';
import { filterEdges } from './picture/deblocking.ts';
import { enterMacroblock, newCurrentMacroblock, newFrame } from './picture/frame.ts';
import type { Frame } from './picture/frame.ts';
import { Refusal, refuse } from './refusal.ts';
import type { RefusalReason } from './refusal.ts';
import { newBits } from './stream/bits.ts';
import type { Bits } from './stream/bits.ts';
import { nalUnits } from './stream/nal-units.ts';
import { readPictureId, readPictureParameters } from './stream/picture-parameters.ts';
import type { PictureParameters } from './stream/picture-parameters.ts';
import { readSequence } from './stream/sequence.ts';
import type { Sequence } from './stream/sequence.ts';
import { readSliceHeader } from './stream/slice-header.ts';
import type { SliceHeader } from './stream/slice-header.ts';

const SLICE = 1;
const PARTITION = 2;
const IDR_SLICE = 5;
const SEQUENCE = 7;
const PARAMETERS = 8;
/** A set with all scaling lists has a few hundred bytes. It is parsed again for every slice. */
const SET_BYTES_MAX = 4096;

export type { RgbPicture } from './picture/colours.ts';

/** The decoded picture, or the reason why the stream is not decoded. */
export type KeyFrame = { readonly picture: RgbPicture } | { readonly refusal: RefusalReason; readonly detail: string };

/**
 * Decodes one key frame of H.264 into red, green and blue. `packet` is the access unit as its container holds it, and
 * `description` is the `avcC` record of its track. A packet without a description has start codes (Annex B).
 *
 * Any bytes are safe: the function returns a picture or a refusal and does not throw. A call takes time and memory for
 * at most 36,864 macroblocks.
 */
export function decodeKeyFrame(packet: Uint8Array, description: Uint8Array | undefined): KeyFrame {
  try {
    return { picture: toRgb(decodePlanes(packet, description)) };
  } catch (cause) {
    if (cause instanceof Refusal) return { refusal: cause.reason, detail: cause.message };
    throw cause;
  }
}

interface Stream {
  readonly sequences: Map<number, Sequence>;
  readonly parameters: Map<number, Uint8Array>;
  picture: { readonly frame: Frame; readonly sequence: Sequence; missing: number } | undefined;
}

/** Decodes the planes of a key frame. Throws only a `Refusal`, for bytes that it does not decode. */
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
    const sequence = readSequence(newBits(unit));
    stream.sequences.set(sequence.id, sequence);
  } else if (type === PARAMETERS) {
    stream.parameters.set(readPictureId(newBits(unit)), unit);
  } else if (type === SLICE || type === IDR_SLICE) {
    takeSlice(stream, unit, type === IDR_SLICE);
  } else if (type === PARTITION) {
    refuse('unsupported', 'data partitions');
  }
}

function takeSlice(stream: Stream, unit: Uint8Array, key: boolean): void {
  const bits = newBits(unit);
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
  const bits = newBits(parameters.get(id) ?? refuse('corrupt', 'no such parameters'));
  readPictureId(bits);
  return readPictureParameters(bits, sequences);
}

/** Decodes the macroblocks of a slice into the picture and returns their number. */
function decodeSlice(frame: Frame, header: SliceHeader, bits: Bits): number {
  const { parameters, first, qp } = header;
  const current = newCurrentMacroblock(frame);
  const syntax = parameters.entropyCodingMode ? cabacSyntax(current, bits, qp) : cavlcSyntax(current, bits);
  const { transform8x8, chromaQpOffsets } = parameters;
  const decoding: Decoding = {
    current,
    syntax,
    scales: levelScales(parameters),
    transform8x8,
    chromaQpOffsets,
    chromaQps: [0, 0],
    qp,
  };
  setQp(decoding, qp);
  const slice = frame.filters.push(header.filter);
  for (let address = first; address < frame.slices.length; address += 1) {
    if (frame.slices[address] !== 0) refuse('corrupt', 'a macroblock came twice');
    enterMacroblock(current, address, slice);
    decodeMacroblock(decoding);
    if (syntax.isSliceEnd()) return address + 1 - first;
  }
  return refuse('corrupt', 'more macroblocks than the picture has');
}
