import { expect, test } from '@jest/globals';
import { checkBaseVideo } from './order-from-draft.ts';
import type { MeasuredMedia } from './order-from-draft.ts';

const picture = { width: 1344, height: 768, frames: 124, framesPerSecond: 24 };
const aVideo = (part: Partial<MeasuredMedia> = {}): MeasuredMedia => ({
  seconds: 5.17,
  hasSound: true,
  picture,
  ...part,
});

test("a base video in the vendor's own format is accepted", () => {
  expect(() => {
    checkBaseVideo(aVideo());
  }).not.toThrow();
});

test.each<[string, Partial<MeasuredMedia>]>([
  ['must have a video track', { picture: undefined }],
  ['must have an audio track', { hasSound: false }],
  ['must have 24 frames a second', { picture: { ...picture, framesPerSecond: 30 } }],
  ['must have a width and height that are multiples of 32', { picture: { ...picture, width: 1280, height: 720 } }],
  ['must have at most 1032192 pixels', { picture: { ...picture, width: 1376 } }],
  ['must have 107 to 362 frames in steps of 17', { picture: { ...picture, frames: 120 } }],
])('base_video %s', (rule, part) => {
  expect(() => {
    checkBaseVideo(aVideo(part));
  }).toThrow(`invalid params, base_video ${rule} (2013)`);
});
