import { ADAPTIVE } from './model-defaults.ts';

/** Pixels. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

const SIZE = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/;
const RATIO = /^([1-9]\d{0,2}):([1-9]\d{0,2})$/;
/** A resolution that is named by its shorter side, such as `768P`. */
const SHORT_SIDE = /^(\d{3,4})p$/i;
/** The smallest longer side of the resolutions that are named by it. */
const LONG_SIDES: ReadonlyMap<string, number> = new Map([
  ['2K', 2048],
  ['4K', 3840],
]);

/** Parses a size such as `1280x720`. Returns undefined for anything else. */
export function parseFrameSize(text: string): FrameSize | undefined {
  const [, width, height] = SIZE.exec(text) ?? [];
  return width === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/**
 * Finds the resolution that is nearest to a size: the largest of 2K and 4K that the longer side reaches, else the
 * nearest shorter side. It ignores names without a number of pixels.
 */
export function findNearestResolution(
  { width, height }: FrameSize,
  resolutions: readonly string[],
): string | undefined {
  const byLongSide = resolutions
    .flatMap((name) => {
      const side = LONG_SIDES.get(name.toUpperCase());
      return side === undefined ? [] : [{ name, side }];
    })
    .toSorted((one, other) => other.side - one.side);
  const reached = byLongSide.find(({ side }) => side <= Math.max(width, height));
  return (reached ?? findNearestShortSide(Math.min(width, height), resolutions) ?? byLongSide.at(-1))?.name;
}

function findNearestShortSide(short: number, resolutions: readonly string[]): { readonly name: string } | undefined {
  let nearest: { readonly name: string; readonly off: number } | undefined;
  for (const name of resolutions) {
    const off = Math.abs(Math.log(short / Number(SHORT_SIDE.exec(name)?.[1])));
    if (off < (nearest?.off ?? Number.POSITIVE_INFINITY)) nearest = { name, off };
  }
  return nearest;
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
