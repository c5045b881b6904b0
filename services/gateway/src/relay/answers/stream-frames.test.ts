import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FRAME_BYTES_MAX, frameSplitter } from './stream-answers.ts';

function split(stream: Buffer, cuts: readonly number[]): { frames: string[]; pieces: number; all: Buffer } {
  const splitter = frameSplitter();
  const [frames, all]: [string[], Buffer[]] = [[], []];
  let pieces = 0;
  const chunks = [0, ...cuts].map((from, index) => stream.subarray(from, [...cuts, stream.length][index]));
  for (const chunk of chunks) {
    splitter.take(
      chunk,
      (frame) => {
        frames.push(frame.toString());
        all.push(frame);
      },
      (piece) => {
        pieces += 1;
        all.push(piece);
      },
    );
  }
  all.push(splitter.rest());
  return { frames, pieces, all: Buffer.concat(all) };
}

const STREAMS = {
  'line feeds': 'event: a\ndata: 1\n\ndata: 2\n\n: ping\n\ndata: ünï\n\n',
  'carriage returns and line feeds': 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n: ping\r\n\r\ndata: ünï\r\n\r\n',
  'carriage returns': 'event: a\rdata: 1\r\rdata: 2\r\r: ping\r\rdata: ünï\r\r',
};

test.each(Object.entries(STREAMS))('a stream with %s has the same frames wherever it is cut in two', (_, text) => {
  const stream = Buffer.from(text);
  for (let at = 0; at <= stream.length; at += 1) {
    const { frames, all } = split(stream, [at]);

    expect(frames.map((frame) => frame.trim().split(/[\r\n]+/))).toEqual([
      ['event: a', 'data: 1'],
      ['data: 2'],
      [': ping'],
      ['data: ünï'],
    ]);
    expect(all.equals(stream)).toBe(true);
  }
});

test('no byte of any stream is lost or changed, wherever it is cut', () => {
  const text = fc
    .array(fc.constantFrom('\n', '\r', '\r\n', 'data: x', '{"a":1}', ':', '🚤'), { maxLength: 40 })
    .map((parts) => Buffer.from(parts.join('')));
  fc.assert(
    fc.property(text, fc.array(fc.nat(100), { maxLength: 10 }), (stream, numbers) => {
      const cuts = numbers.map((number) => Math.min(number, stream.length)).sort((a, b) => a - b);

      expect(split(stream, cuts).all.equals(stream)).toBe(true);
    }),
  );
});

test('a frame that is too long passes in pieces, and the next frame is complete again', () => {
  const long = Buffer.from(`data: ${'x'.repeat(FRAME_BYTES_MAX + 10)}\n\n`);
  const splitter = frameSplitter();
  const frames: string[] = [];
  const pieces: Buffer[] = [];
  const take = (chunk: Buffer) => {
    splitter.take(
      chunk,
      (frame) => frames.push(frame.toString()),
      (piece) => pieces.push(piece),
    );
  };

  take(long.subarray(0, 1000));
  expect(splitter.isBetween()).toBe(true);
  take(long.subarray(1000, FRAME_BYTES_MAX + 5));
  expect(splitter.isBetween()).toBe(false);
  take(Buffer.concat([long.subarray(FRAME_BYTES_MAX + 5), Buffer.from('data: 2\n\n')]));
  expect(splitter.isBetween()).toBe(true);
  expect(Buffer.concat(pieces).equals(long)).toBe(true);
  expect(frames).toEqual(['data: 2\n\n']);
});
