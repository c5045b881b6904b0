/** The vendor's picture formats: sizes in pixels, and the number of frames of a duration. */

export const resolutions = ['480P', '768P', '2K'] as const;
export type Resolution = (typeof resolutions)[number];

export const concreteRatios = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'] as const;
export type ConcreteRatio = (typeof concreteRatios)[number];

export type FrameSize = { readonly width: number; readonly height: number };

export const framesPerSecond = 24;

// The sides of 480P and 768P are multiples of 32 within 480×832 and 768×1344 pixels, so that every 768P result can be a
// base video. The sides of 2K are multiples of 16.
const sizes: Readonly<Record<Resolution, Readonly<Record<ConcreteRatio, readonly [number, number]>>>> = {
  '480P': {
    '21:9': [960, 416],
    '16:9': [832, 480],
    '4:3': [640, 480],
    '1:1': [608, 608],
    '3:4': [480, 640],
    '9:16': [480, 832],
  },
  '768P': {
    '21:9': [1536, 672],
    '16:9': [1344, 768],
    '4:3': [1152, 864],
    '1:1': [992, 992],
    '3:4': [864, 1152],
    '9:16': [768, 1344],
  },
  '2K': {
    '21:9': [2912, 1248],
    '16:9': [2560, 1440],
    '4:3': [2176, 1632],
    '1:1': [1920, 1920],
    '3:4': [1632, 2176],
    '9:16': [1440, 2560],
  },
};

export function frameSize(resolution: Resolution, ratio: ConcreteRatio): FrameSize {
  const [width, height] = sizes[resolution][ratio];
  return { width, height };
}

const gridStep = 17;
const gridStart = 5;

/**
 * Returns the number of frames. The vendor's model renders 17n + 5 frames: the smallest such number that covers the
 * ordered seconds.
 */
export function frameCount(seconds: number): number {
  return gridStart + gridStep * Math.ceil((seconds * framesPerSecond - gridStart) / gridStep);
}

export function isOnFrameGrid(frames: number): boolean {
  return (frames - gridStart) % gridStep === 0;
}

export function nearestRatio({ width, height }: FrameSize): ConcreteRatio {
  const distance = (ratio: ConcreteRatio): number => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log((width * down) / (height * across)));
  };
  return concreteRatios.reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}
