import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fixture } from '../../../testing/origin.ts';
import { rgbOf } from './colours.ts';
import { decodeKeyPicture } from './key-picture.ts';
import type { KeyPicture } from './key-picture.ts';

/** Streams of one picture, and the hash of its samples as another decoder gives them. */
const PICTURES: readonly (readonly [string, string, number, number])[] = [
  ['baseline', 'd92fd0704a759bd4971995c4fb6a689ecc07875e570b834630f6421766b4264e', 98, 66],
  ['main', '93cc9f6e2f06592699da8ca9ec2b8169eb9e8e31dcabe2734df39506dd0292ac', 98, 66],
  ['high', 'd7c296c3a65489d27f7031590a11f15d02f3a121a44908313f4a3a54d870b603', 98, 66],
  ['high-cavlc', 'afa44d287b9d06467b70b46352c56bf168a96e906676e6056250b0daa8d43e1b', 98, 66],
  ['high-slices', '060cd5c8336007d89a683a334d41fc343c9620f8ccb964bcba70fa98488682e3', 98, 66],
  ['high-weights', '3500dacedfd66f08328ffc9e262c0dd3d527124df0f83ba8a07d1f1e398e4f19', 98, 66],
  ['raw-cabac', 'f6f0698ef82a72873a46ad62fc9d1a1ce78148233443050e29f5c469ec8f9d0e', 48, 32],
  ['raw-cavlc', '7b634d9fd92ef43127bc15dd99c8a0c792deb39123b2a1075a5ac4d658a1288c', 48, 32],
];
const stream = (name: string): Buffer => fixture(`h264/${name}.264`);

/** What is shown of the planes, one after the other. */
function shown({ sequence: { crop }, planes }: KeyPicture): Buffer {
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

describe('a key picture of H.264', () => {
  test.each(PICTURES)('in %s is decoded to the bit', (name, sha256, width, height) => {
    const picture = decodeKeyPicture(stream(name), undefined);

    expect(picture?.sequence.crop).toMatchObject({ width, height });
    expect(createHash('sha256').update(shown(picture!)).digest('hex')).toBe(sha256);
  });

  test.each(PICTURES)('in %s that is cut off is none', (name) => {
    const whole = stream(name);

    expect(decodeKeyPicture(whole.subarray(0, whole.byteLength - 40), undefined)).toBeUndefined();
  });

  test('of no units is none', () => {
    expect(decodeKeyPicture(new Uint8Array(0), undefined)).toBeUndefined();
    expect(decodeKeyPicture(stream('main'), new Uint8Array(0))).toBeUndefined();
  });

  test('that is broken in any way is a picture or none, in bounded time', () => {
    const change = fc.record({
      at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      to: fc.integer({ min: 0, max: 255 }),
    });

    fc.assert(
      fc.property(
        fc.constantFrom(...PICTURES.map(([name]) => stream(name))),
        fc.array(change, { minLength: 1, maxLength: 6 }),
        (whole, changes) => {
          const broken = Buffer.from(whole);
          for (const { at, to } of changes) broken[Math.floor(at * at * broken.byteLength)] = to;
          const picture = decodeKeyPicture(broken, undefined);
          if (picture !== undefined)
            expect(rgbOf(picture).data.byteLength).toBe(3 * picture.sequence.crop.width * picture.sequence.crop.height);
        },
      ),
      { seed: 264, numRuns: 250 },
    );
  }, 60_000);
});
