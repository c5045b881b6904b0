import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sampleStream, SAMPLES } from '../testing/samples.ts';
import { decodeKeyFrame } from './decode-key-frame.ts';
import { decodePlanes } from './decode-key-frame.ts';
import type { DecodedPicture } from './picture/colours.ts';

const REFUSALS = ['unsupported', 'too_large', 'corrupt'];
/** Far above the processor time of a call: the largest picture decodes in about a second. */
const CALL_MS_MAX = 10_000;
/** On a slow machine a call takes longer, by at most this many times what the slowest sample takes on it. */
const SAMPLES_MAX = 50;

/** The shown samples of the planes, one plane after the other. */
function shown({ sequence: { crop }, planes }: DecodedPicture): Buffer {
  return Buffer.concat(
    planes.flatMap(({ cells, stride }, plane) => {
      const half = plane === 0 ? 1 : 2;
      return Array.from({ length: crop.height / half }, (_, row) => {
        const from = (crop.top / half + row) * stride + crop.left / half;
        return cells.subarray(from, from + crop.width / half);
      });
    }),
  );
}

function timed(
  bytes: Uint8Array,
  description?: Uint8Array,
): { readonly answer: ReturnType<typeof decodeKeyFrame>; readonly tookMs: number } {
  const before = process.cpuUsage();
  const answer = decodeKeyFrame(bytes, description);
  const { user, system } = process.cpuUsage(before);
  return { answer, tookMs: (user + system) / 1000 };
}

const slowestMs = Math.max(...SAMPLES.map(({ name }) => timed(sampleStream(name)).tookMs));

/** Decodes, and checks that the answer is a whole picture or a named refusal, in bounded time. */
function answerOf(bytes: Uint8Array, description?: Uint8Array): 'picture' | 'refusal' {
  const { answer, tookMs } = timed(bytes, description);
  expect(tookMs).toBeLessThan(Math.max(CALL_MS_MAX, SAMPLES_MAX * slowestMs));
  if ('refusal' in answer) {
    expect(REFUSALS).toContain(answer.refusal);
    return 'refusal';
  }
  const { data, width, height } = answer.picture;
  expect(data.byteLength).toBe(3 * width * height);
  return 'picture';
}

describe.each(SAMPLES)('the sample $name ($features)', ({ name, sha256, width, height }) => {
  test('decodes to the samples of another decoder, bit by bit', () => {
    const hash = createHash('sha256')
      .update(shown(decodePlanes(sampleStream(name), undefined)))
      .digest('hex');

    expect(hash).toBe(sha256);
    expect(decodeKeyFrame(sampleStream(name), undefined)).toMatchObject({ picture: { width, height } });
  });

  test('is refused as corrupt when its end is missing', () => {
    const whole = sampleStream(name);

    expect(decodeKeyFrame(whole.subarray(0, whole.byteLength - 40), undefined)).toMatchObject({ refusal: 'corrupt' });
  });
});

describe('a refusal', () => {
  const high = sampleStream('high');
  const setAt = high.indexOf(Buffer.from([0, 0, 1, 0x67])) + 4;
  /** The sample with other bits at the start of its sequence parameter set, behind profile, constraints and level. */
  const withSet = (bits: string): Buffer => {
    const changed = Buffer.from(high);
    changed.set(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? [], setAt + 3);
    return changed;
  };

  test.each([
    ['no bytes', new Uint8Array(0), 'corrupt'],
    ['bytes without a start code', Buffer.alloc(1000, 0xff), 'corrupt'],
    // id 0, chroma_format_idc 2 (4:2:2)
    ['4:2:2', withSet('1011000000000000'), 'unsupported'],
    // id 0, 4:2:0, bit_depth_luma_minus8 2
    ['ten bits', withSet('1010011000000000'), 'unsupported'],
    ['an inter slice', Buffer.from([0, 0, 1, 0x65, 0b1_1_1_00000, 0x80]), 'unsupported'],
    ['a data partition', Buffer.from([0, 0, 1, 0x42, 0x80]), 'unsupported'],
    [
      'a parameter set of 5,000 bytes',
      Buffer.concat([Buffer.from([0, 0, 1, 0x67]), Buffer.alloc(5000, 1)]),
      'too_large',
    ],
  ])('of %s names its reason', (_what, bytes, refusal) => {
    expect(decodeKeyFrame(bytes, undefined)).toMatchObject({ refusal });
  });

  test('of a picture beyond level 5.1 comes before any memory is taken for it', () => {
    // baseline, level 6.2: id 0, frame_num 4 bits, order type 2, one frame, no gaps, 1024 x 1024 macroblocks
    const bits = `110110100${'00000000001' + '0000000000'}${'00000000001' + '0000000000'}100010000000`;
    const set = (bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2));

    expect(decodeKeyFrame(Buffer.from([0, 0, 1, 0x67, 66, 0, 62, ...set]), undefined)).toMatchObject({
      refusal: 'too_large',
      detail: 'too many macroblocks',
    });
  });
});

describe('any bytes give a picture or a named refusal in bounded time', () => {
  const streams = SAMPLES.map(({ name }) => sampleStream(name));
  /** Most changes hit the parameter sets and headers at the start: `at * at`. */
  const change = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    to: fc.integer({ min: 0, max: 255 }),
  });
  const changed = (whole: Buffer, changes: readonly { readonly at: number; readonly to: number }[]): Buffer => {
    const bytes = Buffer.from(whole);
    for (const { at, to } of changes) bytes[Math.floor(at * at * bytes.byteLength)] = to;
    return bytes;
  };

  test('from mutated streams', () => {
    const answers = { picture: 0, refusal: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.array(change, { minLength: 1, maxLength: 6 }), (whole, changes) => {
        answers[answerOf(changed(whole, changes))] += 1;
      }),
      { seed: 264, numRuns: 120 },
    );

    // the changes reach behind the headers: both answers occur
    expect(Math.min(answers.picture, answers.refusal)).toBeGreaterThan(10);
  }, 120_000);

  test('from streams cut at every length', () => {
    for (const whole of streams)
      for (let length = 0; length < whole.byteLength; length += 101) answerOf(whole.subarray(0, length));
  }, 120_000);

  test('from mutated track descriptions', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom(...streams), (description, whole) => {
        answerOf(whole, description);
      }),
      { seed: 264, numRuns: 500 },
    );
  }, 120_000);

  test('from random bytes behind the headers of a sample', () => {
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.uint8Array({ maxLength: 2000 }), fc.nat(), (whole, tail, at) => {
        answerOf(Buffer.concat([whole.subarray(0, at % whole.byteLength), tail]));
      }),
      { seed: 264, numRuns: 120 },
    );
  }, 120_000);
});
