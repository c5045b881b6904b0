import { decodeChroma } from './chroma.ts';
import { chromaQp } from './chroma-qp.ts';
import { setQp } from './decoding.ts';
import type { Decoding } from './decoding.ts';
import { cellOf, LARGE, MEAN_MODE, RAW, setCounts, SMALL, WHOLE } from '../picture/frame.ts';
import type { Place } from '../picture/frame.ts';
import { decodeLumaBlocks, decodeLumaWhole } from './luma.ts';

const RAW_TYPE = 25;
const RAW_SAMPLES = 384;
const RAW_COUNT = 16;
const EVERYTHING_CODED = 0x2f;
const ALL_MEANS = 7;
const QPS = 52;
/** From this mb_type on, all luma is coded. */
const CODED_TYPE = 13;

/** Decodes one macroblock into the picture (7.3.5). */
export function decodeMacroblock(decoding: Decoding): void {
  const { place, syntax } = decoding;
  const type = syntax.macroblockType();
  if (type === RAW_TYPE) decodeRaw(decoding);
  else if (type === 0) decodeBlocks(decoding);
  else decodeWhole(decoding, type - 1);
  if (type === RAW_TYPE) return;
  const { qps } = place.frame;
  qps[0][place.address] = decoding.qp;
  qps[1][place.address] = decoding.chromaQps[0];
  qps[2][place.address] = decoding.chromaQps[1];
}

function decodeBlocks(decoding: Decoding): void {
  const { place, syntax } = decoding;
  const { frame, address } = place;
  const kind = decoding.largeTransform && syntax.largeTransform() ? LARGE : SMALL;
  frame.kinds[address] = kind;
  for (let index = 0; index < 16; index += kind === LARGE ? 4 : 1) readMode(decoding, index, kind === LARGE ? 2 : 1);
  const chromaMode = syntax.chromaMode();
  frame.chromaModes[address] = chromaMode;
  const pattern = syntax.pattern();
  frame.patterns[address] = pattern;
  if (pattern !== 0) changeQp(decoding);
  decodeLumaBlocks(decoding, kind, pattern & 15);
  decodeChroma(decoding, chromaMode, pattern >> 4);
}

/** 8.3.1.1: the lower of the neighbours' modes is likely. */
function readMode({ place, syntax }: Decoding, index: number, side: number): void {
  const { modes } = place.frame;
  const x = (index & 1) + ((index >> 1) & 2);
  const y = ((index >> 1) & 1) + ((index >> 2) & 2);
  const at = cellOf(modes, place, 4) + y * modes.stride + x;
  const likely = likelyMode(place, at, [x, y]);
  const rest = syntax.mode();
  const mode = rest < 0 ? likely : rest + (rest < likely ? 0 : 1);
  for (let row = 0; row < side; row += 1)
    modes.cells.fill(mode, at + row * modes.stride, at + row * modes.stride + side);
}

function likelyMode(place: Place, at: number, [x, y]: readonly [number, number]): number {
  if ((x === 0 && !place.left) || (y === 0 && !place.above)) return MEAN_MODE;
  const { cells, stride } = place.frame.modes;
  return Math.min(cells[at - 1] as number, cells[at - stride] as number);
}

function decodeWhole(decoding: Decoding, type: number): void {
  const { frame, address } = decoding.place;
  const coded = type >= CODED_TYPE - 1;
  const chroma = Math.floor(type / 4) % 3;
  frame.kinds[address] = WHOLE;
  frame.patterns[address] = (coded ? 15 : 0) + 16 * chroma;
  const chromaMode = decoding.syntax.chromaMode();
  frame.chromaModes[address] = chromaMode;
  changeQp(decoding);
  decodeLumaWhole(decoding, type % 4, coded);
  decodeChroma(decoding, chromaMode, chroma);
}

function changeQp(decoding: Decoding): void {
  setQp(decoding, (decoding.qp + decoding.syntax.qpDelta() + QPS) % QPS);
}

/** I_PCM (7.3.5): the samples themselves. */
function decodeRaw({ place, syntax, chromaQpOffsets }: Decoding): void {
  const { frame, address } = place;
  const samples = syntax.samples(RAW_SAMPLES);
  let from = 0;
  for (const [plane, grid] of frame.planes.entries()) {
    const side = plane === 0 ? 16 : 8;
    const at = cellOf(grid, place, side);
    for (let row = 0; row < side; row += 1)
      grid.cells.set(samples.subarray(from + row * side, from + (row + 1) * side), at + row * grid.stride);
    from += side * side;
  }
  frame.kinds[address] = RAW;
  frame.patterns[address] = EVERYTHING_CODED;
  frame.means[address] = ALL_MEANS;
  setCounts(place, RAW_COUNT);
  frame.qps[0][address] = 0;
  frame.qps[1][address] = chromaQp(0, chromaQpOffsets[0]);
  frame.qps[2][address] = chromaQp(0, chromaQpOffsets[1]);
}
