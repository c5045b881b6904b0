interface Frame {
  readonly ratio?: string | undefined;
  readonly resolution?: string | undefined;
}

/** Resolutions named by their shorter side, such as 768P, and by their longer side. */
const SHORT_SIDE = /^(\d{3,4})p$/i;
const LONG_SIDES: Readonly<Record<string, number>> = { '2K': 2560, '4K': 3840 };
/** Generators round a side down to a multiple of this number: 768P at 16:9 is 1344x768. */
const GRID = 32;
/** The ratio for `adaptive`, which a size cannot express. */
const FRAME_OF_ADAPTIVE = '16:9';
const KNOWN_RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9', '9:21', '3:2', '2:3'];
const SIZE = /^(\d{2,5})x(\d{2,5})$/;
const RATIO = /^[1-9]\d{0,2}:[1-9]\d{0,2}$/;

/** Width x height of a frame; undefined if the resolution does not name a number of pixels. */
export function formatSize({ ratio = FRAME_OF_ADAPTIVE, resolution = '' }: Frame): string | undefined {
  const [across = 0, down = 0] = (RATIO.test(ratio) ? ratio : FRAME_OF_ADAPTIVE).split(':').map(Number);
  const sides = computeSides(resolution, Math.max(across, down), Math.min(across, down));
  if (sides === undefined) return undefined;
  const [long, short] = sides;
  return across < down ? `${short}x${long}` : `${long}x${short}`;
}

function computeSides(resolution: string, wide: number, narrow: number): readonly [number, number] | undefined {
  const short = SHORT_SIDE.exec(resolution)?.[1];
  if (short !== undefined) return [scaleToGrid(Number(short), wide, narrow), Number(short)];
  const long = LONG_SIDES[resolution.toUpperCase()];
  return long === undefined ? undefined : [long, scaleToGrid(long, narrow, wide)];
}

function scaleToGrid(side: number, by: number, of: number): number {
  return (side * by) % of === 0 ? (side * by) / of : Math.floor((side * by) / of / GRID) * GRID;
}

/** Returns the frame for which `formatSize` returns this size, or an empty frame if there is no such frame. */
export function findFrame(size: string): Frame {
  const [, width = 0, height = 0] = (SIZE.exec(size) ?? []).map(Number);
  const named = Object.keys(LONG_SIDES).find((word) => LONG_SIDES[word] === Math.max(width, height));
  for (const resolution of [named, `${Math.min(width, height)}P`]) {
    const ratio =
      resolution === undefined
        ? undefined
        : KNOWN_RATIOS.find((one) => formatSize({ ratio: one, resolution }) === size);
    if (ratio !== undefined) return { ratio, resolution };
  }
  return {};
}
