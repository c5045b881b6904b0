import type { Bits } from '../stream/bits.ts';
import { cabacSyntax } from '../entropy/cabac.ts';
import { cavlcSyntax } from '../entropy/cavlc.ts';
import { setQp } from './decoding.ts';
import type { Decoding } from './decoding.ts';
import { levelScales } from './dequantisation.ts';
import { enterMacroblock, newCurrentMacroblock } from '../picture/frame.ts';
import type { Frame } from '../picture/frame.ts';
import { decodeMacroblock } from './macroblock.ts';
import { refuse } from '../refusal.ts';
import type { SliceHeader } from '../stream/slice-header.ts';

/** Decodes the macroblocks of a slice into the picture and returns their number. */
export function decodeSlice(frame: Frame, header: SliceHeader, bits: Bits): number {
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
