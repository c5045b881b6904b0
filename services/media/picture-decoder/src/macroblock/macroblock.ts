import {
  CHROMA_AC,
  CHROMA_DC,
  DC_MODE,
  INTRA_16X16,
  INTRA_4X4,
  INTRA_8X8,
  I_PCM,
  computeOffset,
  setCounts,
} from '../picture/frame.ts';
import type { CurrentMacroblock } from '../picture/frame.ts';
import { setQp, chromaQp } from './decoding.ts';
import type { Decoding } from './decoding.ts';
import { SCAN_4X4, scaleLevels } from './dequantisation.ts';
import { decodeLuma16x16, decodeLumaBlocks } from './luma.ts';
import { predictChromaDc, predictHorizontal, predictPlane, predictVertical } from './predict-plane.ts';
import type { Whole } from './predict-plane.ts';
import { add4x4, transformChromaDc } from './transforms.ts';

const SCALE_BITS = 4;
const ALL_CODED = 2;
const MODES: readonly ((whole: Whole) => void)[] = [predictChromaDc, predictHorizontal, predictVertical, predictPlane];
const block = new Int32Array(16);
const dc: readonly [Int32Array, Int32Array] = [new Int32Array(4), new Int32Array(4)];

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

/**
 * Predicts both chroma planes of a macroblock and adds their residuals. `coded` is 0 without residuals, 1 for DC alone
 * and 2 for DC and AC.
 */
function decodeChroma(decoding: Decoding, mode: number, coded: number): void {
  const { current, syntax } = decoding;
  for (const plane of [1, 2] as const) {
    const grid = current.frame.planes[plane];
    MODES[mode]?.({ grid, at: computeOffset(grid, current, 8), side: 8, left: current.left, above: current.above });
    dc[plane - 1]?.fill(0);
    if (coded > 0) readDc(decoding, plane);
  }
  if (coded === 0) return;
  for (const plane of [1, 2] as const) addPlane(decoding, plane, coded === ALL_CODED);
  syntax.levels.fill(0);
}

function readDc({ syntax, scales, chromaQps }: Decoding, plane: 1 | 2): void {
  if (syntax.block(CHROMA_DC, plane, 0, 0) === 0) return;
  const into = dc[(plane - 1) as 0 | 1];
  const qp = chromaQps[(plane - 1) as 0 | 1];
  into.set(syntax.levels.subarray(0, 4));
  syntax.levels.fill(0);
  transformChromaDc(into, scales.small[plane]?.[qp % 6]?.[0] as number, qp);
}

function addPlane({ current, syntax, scales, chromaQps }: Decoding, plane: 1 | 2, coded: boolean): void {
  const grid = current.frame.planes[plane];
  const qp = chromaQps[(plane - 1) as 0 | 1];
  const scale = scales.small[plane]?.[qp % 6] as Int32Array;
  for (let part = 0; part < 4; part += 1) {
    const x = part & 1;
    const y = part >> 1;
    const count = coded ? syntax.block(CHROMA_AC, plane, x, y) : 0;
    if (count > 0) scaleLevels(syntax.levels, block, { scale, scan: SCAN_4X4, qp, bits: SCALE_BITS });
    block[0] = dc[(plane - 1) as 0 | 1][part] as number;
    if (count > 0 || block[0] !== 0) add4x4(block, grid, computeOffset(grid, current, 8) + 4 * (y * grid.stride + x));
  }
}
