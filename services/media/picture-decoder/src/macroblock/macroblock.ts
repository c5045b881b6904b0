import { decodeChroma } from './chroma.ts';
import { chromaQp } from './chroma-qp.ts';
import { setQp } from './decoding.ts';
import type { Decoding } from './decoding.ts';
import { computeOffset, INTRA_8X8, DC_MODE, I_PCM, setCounts, INTRA_4X4, INTRA_16X16 } from '../picture/frame.ts';
import type { CurrentMacroblock } from '../picture/frame.ts';
import { decodeLumaBlocks, decodeLuma16x16 } from './luma.ts';

const PCM_TYPE = 25;
const PCM_SAMPLES = 384;
const PCM_COUNT = 16;
const EVERYTHING_CODED = 0x2f;
const ALL_DC = 7;
const QPS = 52;
/** The first mb_type with coded luma. */
const CODED_TYPE = 13;

/** Decodes one macroblock into the picture (7.3.5). */
export function decodeMacroblock(decoding: Decoding): void {
  const { current, syntax } = decoding;
  const type = syntax.macroblockType();
  if (type === PCM_TYPE) decodePcm(decoding);
  else if (type === 0) decodeBlocks(decoding);
  else decode16x16(decoding, type - 1);
  if (type === PCM_TYPE) return;
  const { qps } = current.frame;
  qps[0][current.address] = decoding.qp;
  qps[1][current.address] = decoding.chromaQps[0];
  qps[2][current.address] = decoding.chromaQps[1];
}

function decodeBlocks(decoding: Decoding): void {
  const { current, syntax } = decoding;
  const { frame, address } = current;
  const kind = decoding.transform8x8 && syntax.transform8x8() ? INTRA_8X8 : INTRA_4X4;
  frame.kinds[address] = kind;
  for (let index = 0; index < 16; index += kind === INTRA_8X8 ? 4 : 1)
    readMode(decoding, index, kind === INTRA_8X8 ? 2 : 1);
  const chromaMode = syntax.chromaMode();
  frame.chromaModes[address] = chromaMode;
  const pattern = syntax.pattern();
  frame.patterns[address] = pattern;
  if (pattern !== 0) changeQp(decoding);
  decodeLumaBlocks(decoding, kind, pattern & 15);
  decodeChroma(decoding, chromaMode, pattern >> 4);
}

/** Reads a prediction mode. The predicted mode is the lower one of the neighbours (8.3.1.1). */
function readMode({ current, syntax }: Decoding, index: number, side: number): void {
  const { modes } = current.frame;
  const x = (index & 1) + ((index >> 1) & 2);
  const y = ((index >> 1) & 1) + ((index >> 2) & 2);
  const at = computeOffset(modes, current, 4) + y * modes.stride + x;
  const predicted = predictMode(current, at, [x, y]);
  const rest = syntax.mode();
  const mode = rest < 0 ? predicted : rest + (rest < predicted ? 0 : 1);
  for (let row = 0; row < side; row += 1)
    modes.cells.fill(mode, at + row * modes.stride, at + row * modes.stride + side);
}

function predictMode(current: CurrentMacroblock, at: number, [x, y]: readonly [number, number]): number {
  if ((x === 0 && !current.left) || (y === 0 && !current.above)) return DC_MODE;
  const { cells, stride } = current.frame.modes;
  return Math.min(cells[at - 1] as number, cells[at - stride] as number);
}

function decode16x16(decoding: Decoding, type: number): void {
  const { frame, address } = decoding.current;
  const coded = type >= CODED_TYPE - 1;
  const chroma = Math.floor(type / 4) % 3;
  frame.kinds[address] = INTRA_16X16;
  frame.patterns[address] = (coded ? 15 : 0) + 16 * chroma;
  const chromaMode = decoding.syntax.chromaMode();
  frame.chromaModes[address] = chromaMode;
  changeQp(decoding);
  decodeLuma16x16(decoding, type % 4, coded);
  decodeChroma(decoding, chromaMode, chroma);
}

function changeQp(decoding: Decoding): void {
  setQp(decoding, (decoding.qp + decoding.syntax.qpDelta() + QPS) % QPS);
}

/** Copies the samples of an I_PCM macroblock (7.3.5). */
function decodePcm({ current, syntax, chromaQpOffsets }: Decoding): void {
  const { frame, address } = current;
  const samples = syntax.samples(PCM_SAMPLES);
  let from = 0;
  for (const [plane, grid] of frame.planes.entries()) {
    const side = plane === 0 ? 16 : 8;
    const at = computeOffset(grid, current, side);
    for (let row = 0; row < side; row += 1)
      grid.cells.set(samples.subarray(from + row * side, from + (row + 1) * side), at + row * grid.stride);
    from += side * side;
  }
  frame.kinds[address] = I_PCM;
  frame.patterns[address] = EVERYTHING_CODED;
  frame.dcFlags[address] = ALL_DC;
  setCounts(current, PCM_COUNT);
  frame.qps[0][address] = 0;
  frame.qps[1][address] = chromaQp(0, chromaQpOffsets[0]);
  frame.qps[2][address] = chromaQp(0, chromaQpOffsets[1]);
}
