import { expect, test } from '@jest/globals';
import { concreteRatios, frameCount, frameSize, nearestRatio, resolutions } from './frame-format.ts';

test.each([
  [4, 107],
  [5, 124],
  [10, 243],
  [15, 362],
])('%i seconds have %i frames', (seconds, frames) => {
  expect(frameCount(seconds)).toBe(frames);
});

test.each(concreteRatios)('a 768P picture of %s can be a base video', (ratio) => {
  const { width, height } = frameSize('768P', ratio);

  expect([width % 32, height % 32, width * height <= 768 * 1344]).toEqual([0, 0, true]);
});

test.each(resolutions.flatMap((resolution) => concreteRatios.map((ratio) => [resolution, ratio] as const)))(
  'the nearest ratio of a %s picture of %s is its own',
  (resolution, ratio) => {
    expect(nearestRatio(frameSize(resolution, ratio))).toBe(ratio);
  },
);
