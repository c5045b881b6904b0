import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { sampleStream, SAMPLES } from '../testing/samples.ts';
import { decodeKeyFrame, decodePlanes } from './decode-key-frame.ts';
import type { DecodedPicture } from './picture/colours.ts';

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
