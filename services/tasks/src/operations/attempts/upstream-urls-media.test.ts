import { describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { isSigned } from '@reelgate/platform/signatures';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { mediaUrls } from './upstream-urls.ts';

const KEY = new Secret('signing-key');
const NOW_SECONDS = Date.UTC(2026, 0, 1) / 1000;
const DAY_SECONDS = 24 * 3600;
const { signal } = new AbortController();
const read: string[] = [];
let inBucket: string | undefined;
const urlOf = mediaUrls({
  media: { link: async () => inBucket },
  publicUrl: 'https://gateway.example',
  linkKey: KEY,
  clock: fakeClock(NOW_SECONDS * 1000),
  bytes: {
    read: async (object) => {
      read.push(object);
      return Buffer.from([0, 1, 254, 255]);
    },
  },
});

describe('a staged media item as a link', () => {
  test.each([
    ['image/jpeg', 'jpg'],
    ['image/png', 'png'],
    ['image/heic', 'heic'],
    ['video/mp4', 'mp4'],
    ['video/quicktime', 'mov'],
    ['audio/mpeg', 'mp3'],
    ['audio/wav', 'wav'],
    ['text/x', 'bin'],
  ])('of the type %s ends in .%s, is signed and is valid for a day', async (mediaType, ending) => {
    const link = new URL(await urlOf({ object: 'obj_1', mediaType }, 'url', signal));

    expect(link.origin + link.pathname).toBe(`https://gateway.example/ximg/obj_1.${ending}`);
    expect(Number(link.searchParams.get('exp'))).toBe(NOW_SECONDS + DAY_SECONDS);
    expect(isSigned([KEY], link.pathname, NOW_SECONDS + DAY_SECONDS, link.searchParams.get('sig') ?? '')).toBe(true);
    expect(read).toEqual([]);
  });
});

test('a staged media item in a bucket that channels reach is read there', async () => {
  inBucket = 'https://bucket.example/obj_1?X-Amz-Signature=1';
  expect(await urlOf({ object: 'obj_1', mediaType: 'image/png' }, 'url', signal)).toBe(inBucket);
  expect(await urlOf({ object: 'obj_1', mediaType: 'image/png' }, 'inline', signal)).toMatch(/^data:/);
  inBucket = undefined;
});

describe('a staged media item inside the request', () => {
  test.each([
    ['image/png', 'data:image/png;base64,AAH+/w=='],
    ['video/quicktime', 'data:video/quicktime;base64,AAH+/w=='],
    ['audio/mpeg', 'data:audio/mp3;base64,AAH+/w=='],
  ])('of the type %s is %s', async (mediaType, address) => {
    expect(await urlOf({ object: 'obj_1', mediaType }, 'inline', signal)).toBe(address);
    expect(read.pop()).toBe('obj_1');
  });
});
