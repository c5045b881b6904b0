import type { Bits } from '../stream/bits.ts';
import { cabacSyntax } from '../entropy/cabac.ts';
import { cavlcSyntax } from '../entropy/cavlc.ts';
import { setQp } from './decoding.ts';
import type { Decoding } from './decoding.ts';
import { levelScales } from './dequantisation.ts';
import { enter, newPlace } from '../picture/frame.ts';
import type { Frame } from '../picture/frame.ts';
import { decodeMacroblock } from './macroblock.ts';
import { refuse } from '../refusal.ts';
import type { SliceHeader } from '../stream/slice-header.ts';

/** Decodes the macroblocks of a slice into the picture; says how many they were. */
export function decodeSlice(frame: Frame, header: SliceHeader, bits: Bits): number {
  const { parameters, first, qp } = header;
  const place = newPlace(frame);
  const syntax = parameters.arithmetic ? cabacSyntax(place, bits, qp) : cavlcSyntax(place, bits);
  const { largeTransform, chromaQpOffsets } = parameters;
  const decoding: Decoding = {
    place,
    syntax,
    scales: levelScales(parameters),
    largeTransform,
    chromaQpOffsets,
    chromaQps: [0, 0],
    qp,
  };
  setQp(decoding, qp);
  const slice = frame.filters.push(header.filter);
  for (let address = first; address < frame.slices.length; address += 1) {
    if (frame.slices[address] !== 0) refuse('corrupt', 'a macroblock came twice');
    enter(place, address, slice);
    decodeMacroblock(decoding);
    if (syntax.ended()) return address + 1 - first;
  }
  return refuse('corrupt', 'more macroblocks than the picture has');
}
