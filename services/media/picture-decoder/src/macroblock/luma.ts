import type { Decoding } from './decoding.ts';
import { LARGE_SCAN, scaleLevels, SMALL_SCAN } from './dequantisation.ts';
import { cellOf, LARGE, LARGE_LUMA, SMALL, SMALL_LUMA, WHOLE_AC, WHOLE_DC } from '../picture/frame.ts';
import { predictBlock } from './predict-block.ts';
import { predictHorizontal, predictMean, predictSlope, predictVertical } from './predict-plane.ts';
import type { Whole } from './predict-plane.ts';
import { addLarge, addSmall, transformMeans } from './transforms.ts';

/** How many bits the scales of 4x4 and of 8x8 have to spare. */
const SMALL_BITS = 4;
const LARGE_BITS = 6;
/**
 * Which 4x4 blocks find their neighbour above to the right decoded already, by rows; those of the first row ask the
 * macroblocks above.
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
const WHOLE_MODES: readonly ((whole: Whole) => void)[] = [
  predictVertical,
  predictHorizontal,
  predictMean,
  predictSlope,
];
const block = new Int32Array(64);
const means = new Int32Array(16);

/** Predicts the luma of a macroblock of 4x4 or 8x8 blocks block by block, each with its residual. */
export function decodeLumaBlocks(decoding: Decoding, kind: typeof SMALL | typeof LARGE, pattern: number): void {
  for (let index = 0; index < 16; index += kind === LARGE ? 4 : 1) {
    const coded = ((pattern >> (index >> 2)) & 1) === 1;
    const x = (index & 1) + ((index >> 1) & 2);
    const y = ((index >> 1) & 1) + ((index >> 2) & 2);
    if (kind === SMALL) decodeSmall(decoding, x, y, coded);
    else decodeLarge(decoding, x, y, coded);
  }
}

function decodeSmall({ place, syntax, scales, qp }: Decoding, x: number, y: number, coded: boolean): void {
  const [grid] = place.frame.planes;
  const at = cellOf(grid, place, 16) + 4 * (y * grid.stride + x);
  const right = y > 0 ? RIGHT_DONE[4 * y + x] === true : x < 3 ? place.above : place.aboveRight;
  const left = x > 0 || place.left;
  const above = y > 0 || place.above;
  predictBlock(
    { grid, at, side: 4, left, above, corner: cornerOf(place, x, y), aboveRight: right },
    modeAt(place, x, y),
  );
  if (!coded || syntax.block(SMALL_LUMA, 0, x, y) === 0) return;
  scaleLevels(syntax.levels, block, {
    scale: scales.small[0]?.[qp % 6] as Int32Array,
    scan: SMALL_SCAN,
    qp,
    bits: SMALL_BITS,
  });
  addSmall(block, grid, at);
}

function decodeLarge({ place, syntax, scales, qp }: Decoding, x: number, y: number, coded: boolean): void {
  const [grid] = place.frame.planes;
  const at = cellOf(grid, place, 16) + 4 * (y * grid.stride + x);
  const right = y > 0 ? x === 0 : x === 0 ? place.above : place.aboveRight;
  const left = x > 0 || place.left;
  const above = y > 0 || place.above;
  predictBlock(
    { grid, at, side: 8, left, above, corner: cornerOf(place, x, y), aboveRight: right },
    modeAt(place, x, y),
  );
  if (!coded || syntax.block(LARGE_LUMA, 0, x, y) === 0) return;
  scaleLevels(syntax.levels, block, {
    scale: scales.large[qp % 6] as Int32Array,
    scan: LARGE_SCAN,
    qp,
    bits: LARGE_BITS,
  });
  addLarge(block, grid, at);
}

function cornerOf({ left, above, aboveLeft }: Decoding['place'], x: number, y: number): boolean {
  if (x > 0) return y > 0 || above;
  return y > 0 ? left : aboveLeft;
}

function modeAt(place: Decoding['place'], x: number, y: number): number {
  const { modes } = place.frame;
  return modes.cells[cellOf(modes, place, 4) + y * modes.stride + x] as number;
}

/** Predicts the luma of a macroblock as a whole and adds its residual. */
export function decodeLumaWhole({ place, syntax, scales, qp }: Decoding, mode: number, coded: boolean): void {
  const [grid] = place.frame.planes;
  const from = cellOf(grid, place, 16);
  WHOLE_MODES[mode]?.({ grid, at: from, side: 16, left: place.left, above: place.above });
  const scale = scales.small[0]?.[qp % 6] as Int32Array;
  means.fill(0);
  if (syntax.block(WHOLE_DC, 0, 0, 0) > 0) {
    for (let index = 0; index < 16; index += 1) means[SMALL_SCAN[index] as number] = syntax.levels[index] as number;
    syntax.levels.fill(0);
    transformMeans(means, scale[0] as number, qp);
  }
  for (let index = 0; index < 16; index += 1) {
    const x = (index & 1) + ((index >> 1) & 2);
    const y = ((index >> 1) & 1) + ((index >> 2) & 2);
    const count = coded ? syntax.block(WHOLE_AC, 0, x, y) : 0;
    if (count > 0) scaleLevels(syntax.levels, block, { scale, scan: SMALL_SCAN, qp, bits: SMALL_BITS });
    block[0] = means[4 * y + x] as number;
    if (count > 0 || block[0] !== 0) addSmall(block, grid, from + 4 * (y * grid.stride + x));
  }
}
