import type { Decoding } from './decoding.ts';
import { SCAN_8X8, scaleLevels, SCAN_4X4 } from './dequantisation.ts';
import {
  computeOffset,
  INTRA_8X8,
  LUMA_8X8,
  INTRA_4X4,
  LUMA_4X4,
  LUMA_16X16_AC,
  LUMA_16X16_DC,
} from '../picture/frame.ts';
import { predictBlock } from './predict-block.ts';
import { predictHorizontal, predictDc, predictPlane, predictVertical } from './predict-plane.ts';
import type { Whole } from './predict-plane.ts';
import { add8x8, add4x4, transformDc } from './transforms.ts';

/** The extra bits of the 4x4 and 8x8 scales. */
const SMALL_BITS = 4;
const LARGE_BITS = 6;
/**
 * For each 4x4 block, by rows: true if the block above to its right is decoded before it. The first row depends on
 * the macroblocks above.
 */
const RIGHT_DONE: readonly boolean[] = [
  true,
  true,
  true,
  true,
  true,
  false,
  true,
  false,
  true,
  true,
  true,
  false,
  true,
  false,
  true,
  false,
];
const WHOLE_MODES: readonly ((whole: Whole) => void)[] = [predictVertical, predictHorizontal, predictDc, predictPlane];
const block = new Int32Array(64);
const dc = new Int32Array(16);

/** Decodes the luma of a macroblock by 4x4 or 8x8 blocks, each with its residual. */
export function decodeLumaBlocks(decoding: Decoding, kind: typeof INTRA_4X4 | typeof INTRA_8X8, pattern: number): void {
  for (let index = 0; index < 16; index += kind === INTRA_8X8 ? 4 : 1) {
    const coded = ((pattern >> (index >> 2)) & 1) === 1;
    const x = (index & 1) + ((index >> 1) & 2);
    const y = ((index >> 1) & 1) + ((index >> 2) & 2);
    if (kind === INTRA_4X4) decode4x4(decoding, x, y, coded);
    else decode8x8(decoding, x, y, coded);
  }
}

interface PredictedBlock {
  readonly x: number;
  readonly y: number;
  readonly side: 4 | 8;
  readonly aboveRight: boolean;
}

/** Predicts a block and returns the position of its first sample. */
function predictAt(current: Decoding['current'], { x, y, side, aboveRight }: PredictedBlock): number {
  const [grid] = current.frame.planes;
  const at = computeOffset(grid, current, 16) + 4 * (y * grid.stride + x);
  const left = x > 0 || current.left;
  const above = y > 0 || current.above;
  predictBlock({ grid, at, side, left, above, corner: hasCorner(current, x, y), aboveRight }, modeAt(current, x, y));
  return at;
}

function decode4x4({ current, syntax, scales, qp }: Decoding, x: number, y: number, coded: boolean): void {
  const aboveRight = y > 0 ? RIGHT_DONE[4 * y + x] === true : x < 3 ? current.above : current.aboveRight;
  const at = predictAt(current, { x, y, side: 4, aboveRight });
  if (!coded || syntax.block(LUMA_4X4, 0, x, y) === 0) return;
  scaleLevels(syntax.levels, block, {
    scale: scales.small[0]?.[qp % 6] as Int32Array,
    scan: SCAN_4X4,
    qp,
    bits: SMALL_BITS,
  });
  add4x4(block, current.frame.planes[0], at);
}

function decode8x8({ current, syntax, scales, qp }: Decoding, x: number, y: number, coded: boolean): void {
  const aboveRight = y > 0 ? x === 0 : x === 0 ? current.above : current.aboveRight;
  const at = predictAt(current, { x, y, side: 8, aboveRight });
  if (!coded || syntax.block(LUMA_8X8, 0, x, y) === 0) return;
  scaleLevels(syntax.levels, block, {
    scale: scales.large[qp % 6] as Int32Array,
    scan: SCAN_8X8,
    qp,
    bits: LARGE_BITS,
  });
  add8x8(block, current.frame.planes[0], at);
}

function hasCorner({ left, above, aboveLeft }: Decoding['current'], x: number, y: number): boolean {
  if (x > 0) return y > 0 || above;
  return y > 0 ? left : aboveLeft;
}

function modeAt(current: Decoding['current'], x: number, y: number): number {
  const { modes } = current.frame;
  return modes.cells[computeOffset(modes, current, 4) + y * modes.stride + x] as number;
}

/** Decodes the luma of an intra 16x16 macroblock. */
export function decodeLuma16x16({ current, syntax, scales, qp }: Decoding, mode: number, coded: boolean): void {
  const [grid] = current.frame.planes;
  const from = computeOffset(grid, current, 16);
  WHOLE_MODES[mode]?.({ grid, at: from, side: 16, left: current.left, above: current.above });
  const scale = scales.small[0]?.[qp % 6] as Int32Array;
  dc.fill(0);
  if (syntax.block(LUMA_16X16_DC, 0, 0, 0) > 0) {
    for (let index = 0; index < 16; index += 1) dc[SCAN_4X4[index] as number] = syntax.levels[index] as number;
    syntax.levels.fill(0);
    transformDc(dc, scale[0] as number, qp);
  }
  for (let index = 0; index < 16; index += 1) {
    const x = (index & 1) + ((index >> 1) & 2);
    const y = ((index >> 1) & 1) + ((index >> 2) & 2);
    const count = coded ? syntax.block(LUMA_16X16_AC, 0, x, y) : 0;
    if (count > 0) scaleLevels(syntax.levels, block, { scale, scan: SCAN_4X4, qp, bits: SMALL_BITS });
    block[0] = dc[4 * y + x] as number;
    if (count > 0 || block[0] !== 0) add4x4(block, grid, from + 4 * (y * grid.stride + x));
  }
}
