import type { Frame } from './frame.ts';
import type { Colours, Sequence } from '../stream/sequence.ts';
import { clip } from '../macroblock/transforms.ts';

/** The planes Y, Cb and Cr, and the parameters of their display. */
export interface DecodedPicture {
  readonly sequence: Sequence;
  readonly planes: Frame['planes'];
}

/** A picture with a byte each for red, green and blue. */
export interface RgbPicture {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** The weights of red and blue in Y, by matrix_coefficients (Table E-5). */
const WEIGHTS: Readonly<Record<number, readonly [number, number]>> = {
  1: [0.2126, 0.0722],
  4: [0.3, 0.11],
  5: [0.299, 0.114],
  6: [0.299, 0.114],
  7: [0.212, 0.087],
  9: [0.2627, 0.0593],
};
const HIGH_DEFINITION = 1;
const STANDARD_DEFINITION = 6;
/** The height from which a stream without matrix coefficients counts as high definition. */
const HIGH_DEFINITION_HEIGHT = 720;

interface Matrix {
  readonly black: number;
  readonly y: number;
  readonly redCr: number;
  readonly greenCb: number;
  readonly greenCr: number;
  readonly blueCb: number;
}

/** Converts the visible part of a picture into RGB. */
export function toRgb({ sequence, planes }: DecodedPicture): RgbPicture {
  const { crop, colours } = sequence;
  const { black, y, redCr, greenCb, greenCr, blueCb } = computeMatrix(colours, crop.height);
  const [luma, cb, cr] = planes;
  const data = new Uint8Array(3 * crop.width * crop.height);
  let into = 0;
  for (let row = crop.top; row < crop.top + crop.height; row += 1) {
    for (let column = crop.left; column < crop.left + crop.width; column += 1) {
      const chroma = (row >> 1) * cb.stride + (column >> 1);
      const level = y * ((luma.cells[row * luma.stride + column] as number) - black) + 0.5;
      const blue = (cb.cells[chroma] as number) - 128;
      const red = (cr.cells[chroma] as number) - 128;
      data[into] = clip(level + redCr * red);
      data[into + 1] = clip(level + greenCb * blue + greenCr * red);
      data[into + 2] = clip(level + blueCb * blue);
      into += 3;
    }
  }
  return { data, width: crop.width, height: crop.height };
}

/** The inverse of the equations in E.2.1. */
function computeMatrix({ matrix, fullRange }: Colours, height: number): Matrix {
  const unsaid = height >= HIGH_DEFINITION_HEIGHT ? HIGH_DEFINITION : STANDARD_DEFINITION;
  const [red, blue] = WEIGHTS[matrix] ?? WEIGHTS[unsaid] ?? [0, 0];
  const green = 1 - red - blue;
  const chroma = fullRange ? 1 : 255 / 224;
  return {
    black: fullRange ? 0 : 16,
    y: fullRange ? 1 : 255 / 219,
    redCr: 2 * (1 - red) * chroma,
    greenCb: ((-2 * blue * (1 - blue)) / green) * chroma,
    greenCr: ((-2 * red * (1 - red)) / green) * chroma,
    blueCb: 2 * (1 - blue) * chroma,
  };
}
