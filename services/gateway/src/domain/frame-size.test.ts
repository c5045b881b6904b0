import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findNearestRatio, findNearestResolution, parseFrameSize } from './frame-size.ts';

const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];

describe('a size is width x height in whole pixels', () => {
  test.each([
    ['1280x720', { width: 1280, height: 720 }],
    ['1x99999', { width: 1, height: 99_999 }],
  ])('%s', (text, size) => {
    expect(parseFrameSize(text)).toEqual(size);
  });
  test.each([
    '',
    'huge',
    '0x0',
    '1280',
    '1280x',
    'x720',
    '-1280x720',
    '1280X720',
    '1280x720x3',
    '1280.5x720',
    ' 1280x720',
    '01x1',
    '100000x1',
  ])('not %j', (text) => {
    expect(parseFrameSize(text)).toBeUndefined();
  });
});

test.each([
  ['1280x720', '16:9', '768P'],
  ['720x1280', '9:16', '768P'],
  ['1024x1024', '1:1', '768P'],
  ['1024x768', '4:3', '768P'],
  ['768x1024', '3:4', '768P'],
  ['1792x1024', '16:9', '768P'],
  ['1024x1792', '9:16', '768P'],
  ['2560x1080', '21:9', '2K'],
  ['2560x1440', '16:9', '2K'],
  ['1440x2560', '9:16', '2K'],
  ['2047x1151', '16:9', '768P'],
  ['2048x1152', '16:9', '2K'],
])('%s is %s at %s', (text, ratio, resolution) => {
  const size = parseFrameSize(text)!;

  expect(findNearestRatio(size, RATIOS)).toBe(ratio);
  expect(findNearestResolution(size, ['768P', '2K'])).toBe(resolution);
});

describe('a size selects the nearest resolution that the model has', () => {
  test.each<[string, readonly string[], string]>([
    ['1280x720', ['480P', '720P', '1080P'], '720P'],
    ['720x1280', ['480P', '720P', '1080P'], '720P'],
    ['1920x1080', ['480P', '720P', '1080P'], '1080P'],
    ['854x480', ['480P', '720P', '1080P'], '480P'],
    ['1024x1024', ['1080P', '720P', '480P'], '1080P'],
    ['1280x720', ['480p', '720p'], '720p'],
    ['1x1', ['480P', '720P'], '480P'],
    ['2560x1440', ['480P', '720P'], '720P'],
    ['1920x1080', ['1080P', '2K', '4K'], '1080P'],
    ['2560x1440', ['1080P', '2K', '4K'], '2K'],
    ['3840x2160', ['1080P', '2K', '4K'], '4K'],
    ['2560x1440', ['720P', '1080P', '4K'], '1080P'],
    ['1280x720', ['4K', '2K'], '2K'],
    ['1280x720', ['best', '480P'], '480P'],
  ])('%s of %j is %s', (text, resolutions, resolution) => {
    expect(findNearestResolution(parseFrameSize(text)!, resolutions)).toBe(resolution);
  });
  test('and none if no name of the model says how many pixels it has', () => {
    expect(findNearestResolution({ width: 1280, height: 720 }, ['best', 'P', '3K'])).toBeUndefined();
  });
});

test('a model without a concrete ratio has no nearest one', () => {
  expect(findNearestRatio({ width: 1, height: 1 }, ['adaptive', 'odd'])).toBeUndefined();
});

test('every size has a ratio of the model, and swapping width and height swaps the ratio', () => {
  const side = fc.integer({ min: 1, max: 99_999 });
  fc.assert(
    fc.property(side, side, (width, height) => {
      const ratio = findNearestRatio({ width, height }, ['16:9', '9:16'])!;
      if (width !== height)
        expect(findNearestRatio({ width: height, height: width }, ['16:9', '9:16'])).toBe(
          ratio === '16:9' ? '9:16' : '16:9',
        );
    }),
  );
});
