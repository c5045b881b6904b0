import { expect, test } from '@jest/globals';
import { toRgb } from './colours.ts';
import { newFrame } from './frame.ts';
import type { Colours } from '../stream/sequence.ts';

const crop = { left: 0, top: 0, width: 2, height: 2 };
const unused = {
  id: 0,
  lists: undefined,
  frameNumberBits: 4,
  orderType: 2,
  orderBits: 0,
  orderDeltas: false,
  framesOnly: true,
  columns: 1,
  rows: 1,
  crop,
};

/** The colour of a picture whose every sample is this Y, Cb and Cr. */
function colourOf(samples: readonly number[], colours: Colours): readonly number[] {
  const { planes } = newFrame(1, 1);
  for (const [plane, { cells }] of planes.entries()) cells.fill(samples[plane]!);
  return [...toRgb({ sequence: { ...unused, colours }, planes }).data.subarray(-3)];
}

test.each<[string, readonly number[], Colours, readonly number[]]>([
  ['black', [16, 128, 128], { matrix: 1, fullRange: false }, [0, 0, 0]],
  ['white', [235, 128, 128], { matrix: 1, fullRange: false }, [255, 255, 255]],
  ['the white of a full range', [255, 128, 128], { matrix: 1, fullRange: true }, [255, 255, 255]],
  ['white, for a sample above it', [255, 128, 128], { matrix: 6, fullRange: false }, [255, 255, 255]],
  ['the red of BT.709', [63, 102, 240], { matrix: 1, fullRange: false }, [255, 1, 0]],
  ['the red of BT.601', [81, 90, 240], { matrix: 6, fullRange: false }, [254, 0, 0]],
  ['the red of a small picture without a declared matrix', [81, 90, 240], { matrix: 2, fullRange: false }, [254, 0, 0]],
  ['the blue of BT.709', [32, 240, 118], { matrix: 1, fullRange: false }, [1, 0, 255]],
])('the converted colour equals %s', (_name, samples, colours, rgb) => {
  for (const [index, value] of colourOf(samples, colours).entries())
    expect(Math.abs(value - rgb[index]!)).toBeLessThanOrEqual(1);
});
