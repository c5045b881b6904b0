import { ADAPTIVE } from './model-defaults.ts';

/** Pixels. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;
const RATIO = /^([1-9]\d{0,2}):([1-9]\d{0,2})$/;
const LONG_SIDE_2K = 2048;

/** Parses a size such as `1280x720`; undefined for anything else. */
export function parseFrameSize(text: string): FrameSize | undefined {
  const [, width, height] = SIZE.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** Returns the resolution that a size selects. */
export function chooseResolution({ width, height }: FrameSize): string {
  return Math.max(width, height) >= LONG_SIDE_2K ? '2K' : '768P';
}

/** Finds the ratio that is nearest to a size. It ignores `adaptive` and values that are not ratios. */
export function findNearestRatio({ width, height }: FrameSize, ratios: readonly string[]): string | undefined {
  const shape = Math.log(width / height);
  let nearest: { readonly ratio: string; readonly off: number } | undefined;
  for (const ratio of ratios) {
    const [, across, down] = ratio === ADAPTIVE ? [] : (RATIO.exec(ratio) ?? []);
    const off = Math.abs(shape - Math.log(Number(across) / Number(down)));
    if (off < (nearest?.off ?? Number.POSITIVE_INFINITY)) nearest = { ratio, off };
  }
  return nearest?.ratio;
}
