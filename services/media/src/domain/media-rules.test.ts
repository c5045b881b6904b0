import { describe, expect, test } from '@jest/globals';
import { mayDeclare } from './formats.ts';
import { findMediaFault, isResult } from './media-rules.ts';
import type { AudioFacts, ImageFacts, VideoFacts } from './media-facts.ts';

const image = (over: Partial<ImageFacts> = {}): ImageFacts => ({
  family: 'image',
  mediaType: 'image/png',
  width: 640,
  height: 360,
  ...over,
});
const audio = (over: Partial<AudioFacts> = {}): AudioFacts => ({
  family: 'audio',
  mediaType: 'audio/mpeg',
  durationMs: 3000,
  codec: 'mp3',
  ...over,
});
const video = (over: Partial<VideoFacts> = {}): VideoFacts => ({
  family: 'video',
  mediaType: 'video/mp4',
  width: 1344,
  height: 768,
  durationMs: 4458,
  frameRate: 24,
  frames: 107,
  videoCodec: 'avc',
  audioCodec: 'aac',
  ...over,
});

describe('an image', () => {
  test.each<[Partial<ImageFacts>]>([
    [{}],
    [{ mediaType: 'image/jpeg' }],
    [{ mediaType: 'image/webp' }],
    [{ mediaType: 'image/heic' }],
    [{ width: 256, height: 256 }],
    [{ width: 5760, height: 5760 }],
    [{ width: 640, height: 256 }],
    [{ width: 256, height: 640 }],
  ])('%j is accepted', (over) => {
    expect(findMediaFault('image', image(over))).toBeUndefined();
  });

  test.each<[Partial<ImageFacts>, string]>([
    [{ width: 255, height: 400 }, 'must have sides from 256 to 5760 pixels; it has 255×400'],
    [{ width: 5761, height: 5000 }, 'must have sides from 256 to 5760 pixels; it has 5761×5000'],
    [{ width: 641, height: 256 }, 'must be from 0.4 to 2.5 times as wide as it is high; it is 641×256'],
    [{ width: 256, height: 641 }, 'must be from 0.4 to 2.5 times as wide as it is high; it is 256×641'],
  ])('%j: %s', (over, said) => {
    expect(findMediaFault('image', image(over))).toBe(said);
  });

  test('a video is refused as an image, and the message names its type', () => {
    expect(findMediaFault('image', video())).toBe(
      'must be an image (JPEG, PNG, WebP, HEIC or HEIF); its bytes are video/mp4',
    );
  });
});

describe('a reference video', () => {
  test.each<[Partial<VideoFacts>]>([
    [{}],
    [{ mediaType: 'video/quicktime', videoCodec: 'hevc', audioCodec: 'mp3' }],
    [{ audioCodec: undefined }],
    [{ durationMs: 2000 }],
    [{ durationMs: 15_083 }],
    [{ frameRate: 23.976 }],
    [{ frameRate: 60 }],
    [{ width: 2560, height: 1440 }],
  ])('%j is accepted', (over) => {
    expect(findMediaFault('video', video(over))).toBeUndefined();
  });

  test.each<[Partial<VideoFacts>, RegExp]>([
    [{ mediaType: 'video/webm' }, /MP4 or MOV/],
    [{ videoCodec: 'vp9' }, /H\.264 or H\.265; it is vp9/],
    [{ audioCodec: 'opus' }, /must have AAC or MP3 audio; it has opus/],
    [{ durationMs: 1999 }, /from 2 to 15 seconds; it lasts 1\.999 s/],
    [{ durationMs: 15_200 }, /from 2 to 15 seconds/],
    [{ frameRate: 15 }, /23\.976 to 60 frames/],
    [{ frameRate: 61 }, /23\.976 to 60 frames/],
    [{ width: 200 }, /256 to 5760/],
    [{ width: 2000, height: 300 }, /0\.4 to 2\.5/],
  ])('%j is refused', (over, said) => {
    expect(findMediaFault('video', video(over))).toMatch(said);
  });
});

describe('a base video', () => {
  test.each<[Partial<VideoFacts>]>([
    [{}],
    [{ frames: 362, durationMs: 15_083 }],
    [{ width: 768, height: 1344 }],
    [{ width: 992, height: 992 }],
    [{ frameRate: 23.976 }],
  ])('%j is accepted', (over) => {
    expect(findMediaFault('base_video', video(over))).toBeUndefined();
  });

  test.each<[Partial<VideoFacts>, RegExp]>([
    [{ width: 2560, height: 1440 }, /1032192 pixels \(768P\)/],
    [{ width: 1350 }, /multiples of 32/],
    [{ frameRate: 30 }, /24 frames per second/],
    [{ frames: 106 }, /107 to 362 frames/],
    [{ frames: 363, durationMs: 15_125 }, /107 to 362 frames/],
    [{ frames: 362, durationMs: 1000 }, /must last as long as its frames do.*362 frames and lasts 1 s/],
    [{ durationMs: 89_478_489_792 }, /must last as long as its frames do/],
    [{ audioCodec: undefined }, /must have an audio track/],
    [{ mediaType: 'video/webm' }, /MP4 or MOV/],
  ])('%j is refused', (over, said) => {
    expect(findMediaFault('base_video', video(over))).toMatch(said);
  });
});

describe('audio', () => {
  test.each([
    [audio(), undefined],
    [audio({ mediaType: 'audio/wav' }), undefined],
    [audio({ durationMs: 1000 }), /2 to 15 seconds/],
    [audio({ durationMs: 16_000 }), /2 to 15 seconds/],
  ])('%j', (facts, said) => {
    const fault = findMediaFault('audio', facts);
    if (said === undefined) expect(fault).toBeUndefined();
    else expect(fault).toMatch(said);
  });

  test('a picture is refused as audio', () => {
    expect(findMediaFault('audio', image())).toMatch(/WAV or MP3/);
  });
});

test.each([
  [video(), true],
  [video({ mediaType: 'video/webm', width: 7000 }), true],
  [video({ durationMs: 0 }), false],
  [video({ durationMs: 86_400_001 }), false],
  [video({ durationMs: 3_600_000, frames: 1000 }), true],
  [video({ width: 0, height: 0 }), false],
  [video({ width: 65_535 }), false],
  [video({ width: 8192, height: 4320 }), true],
  [image(), false],
  [audio(), false],
])('%j is a result: %s', (facts, expected) => {
  expect(isResult(facts)).toBe(expected);
});

test.each([
  ['image/png', 'image', true],
  ['IMAGE/JPEG; charset=x', 'image', true],
  [undefined, 'image', true],
  ['', 'video', true],
  ['application/octet-stream', 'audio', true],
  ['application/mp4', 'video', true],
  ['image/png; a="b, text/html"', 'image', true],
  [' image/png ;', 'image', true],
  ['image/png; charset=', 'image', true],
  ['application/octet-stream; a=b', 'video', true],
  ['image/png, text/html', 'image', false],
  ['image/png,text/html', 'image', false],
  ['text/html, image/png', 'image', false],
  ['image/png, image/png', 'image', false],
  ['image/png,', 'image', false],
  [', image/png', 'image', false],
  ['image/png; a=b, text/html', 'image', false],
  ['image/png; a="b", text/html', 'image', false],
  ['image/png; a="b, text/html', 'image', false],
  ['image/png; a="b\\", text/html; c="d"', 'image', false],
  ['application/octet-stream, text/html', 'image', false],
  ['image', 'image', false],
  ['image/', 'image', false],
  ['/png', 'image', false],
  ['image/png text/html', 'image', false],
  ['image/png/gif', 'image', false],
  ['image /png', 'image', false],
  ['"image/png"', 'image', false],
  [';', 'image', false],
  ['; charset=x', 'image', false],
  ['text/html', 'image', false],
  ['video/mp4', 'image', false],
  ['image/png', 'video', false],
  ['application/json', 'image', false],
  ['images/png', 'image', false],
] as const)('the declared type %s fits the family %s: %s', (declared, family, expected) => {
  expect(mayDeclare(declared, family)).toBe(expected);
});

test('a declared type of any length is judged immediately', () => {
  for (const piece of [';', '"', '\\', ' ', '; ', '";', '; a="b"', ','])
    mayDeclare(`image/png;${piece.repeat(16_384 / piece.length)}\u0001`, 'image');
  expect(mayDeclare(`image/png${'; a="b"'.repeat(2000)}, text/html`, 'image')).toBe(false);
});
