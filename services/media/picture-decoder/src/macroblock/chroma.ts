import type { Decoding } from './decoding.ts';
import { scaleLevels, SCAN_4X4 } from './dequantisation.ts';
import { computeOffset, CHROMA_AC, CHROMA_DC } from '../picture/frame.ts';
import { predictChromaDc, predictHorizontal, predictPlane, predictVertical } from './predict-plane.ts';
import type { Whole } from './predict-plane.ts';
import { add4x4, transformChromaDc } from './transforms.ts';

const SCALE_BITS = 4;
const ALL_CODED = 2;
const MODES: readonly ((whole: Whole) => void)[] = [predictChromaDc, predictHorizontal, predictVertical, predictPlane];
const block = new Int32Array(16);
const dc: readonly [Int32Array, Int32Array] = [new Int32Array(4), new Int32Array(4)];

/** Predicts both chroma planes of a macroblock and adds their residuals: none (0), DC only (1), all (2). */
export function decodeChroma(decoding: Decoding, mode: number, coded: number): void {
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
