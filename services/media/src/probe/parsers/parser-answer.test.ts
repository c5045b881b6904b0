import { expect, test } from '@jest/globals';
import { readParserAnswer } from './parser-answer.ts';

const JOB = 3;
const image = { family: 'image', mediaType: 'image/png', width: 2, height: 3 };
const video = {
  family: 'video',
  mediaType: 'video/mp4',
  width: 2,
  height: 3,
  durationMs: 4000,
  frameRate: 24,
  frames: 96,
  videoCodec: 'avc',
  audioCodec: 'aac',
};
const audio = { family: 'audio', mediaType: 'audio/wav', durationMs: 3000, codec: 'pcm-u8' };

test.each([image, video, { ...video, audioCodec: undefined }, audio])(
  'a valid answer of a parser is accepted: %j',
  (facts) => {
    expect(readParserAnswer(JSON.stringify({ job: JOB, facts }), JOB)).toEqual({ facts });
  },
);

test('unknown fields of an answer are dropped', () => {
  const facts = { ...image, path: '/etc/passwd' };

  expect(readParserAnswer(JSON.stringify({ job: JOB, facts, more: 1 }), JOB)).toEqual({ facts: image });
  expect(readParserAnswer(JSON.stringify({ job: JOB, fault: 'broken', path: '/' }), JOB)).toEqual({ fault: 'broken' });
});

test.each([[JOB - 1], [JOB + 1], [String(JOB)], [undefined]])('the answer to another job is rejected: %j', (job) => {
  expect(readParserAnswer(JSON.stringify({ job, facts: image }), JOB)).toBeUndefined();
});

test.each([['no answer'], [null], [[]]])('what is no object is rejected: %j', (said) => {
  expect(readParserAnswer(JSON.stringify(said), JOB)).toBeUndefined();
});

test.each<[object]>([
  [{}],
  [{ fault: 'toString' }],
  [{ fault: 1 }],
  [{ facts: null }],
  [{ facts: { ...image, mediaType: 'text/html' } }],
  [{ facts: { ...image, mediaType: '__proto__' } }],
  [{ facts: { ...image, mediaType: 'video/mp4' } }],
  [{ facts: { ...image, width: -1 } }],
  [{ facts: { ...image, width: 0 } }],
  [{ facts: { ...image, width: 1.5 } }],
  [{ facts: { ...image, height: '3' } }],
  [{ facts: { ...image, height: 2 ** 40 } }],
  [{ facts: { ...video, durationMs: 0 } }],
  [{ facts: { ...video, frameRate: null } }],
  [{ facts: { ...video, frameRate: -1 } }],
  [{ facts: { ...video, frames: 1e9 } }],
  [{ facts: { ...video, videoCodec: '<script>' } }],
  [{ facts: { ...video, audioCodec: 'a'.repeat(99) } }],
  [{ facts: { ...audio, codec: undefined } }],
  [{ facts: { ...audio, durationMs: 2 ** 60 } }],
])('an invalid answer is rejected: %j', (said) => {
  expect(readParserAnswer(JSON.stringify({ job: JOB, ...said }), JOB)).toBeUndefined();
});

test('an answer that is not JSON is rejected', () => {
  expect(readParserAnswer('{"facts":', JOB)).toBeUndefined();
});
