import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { fetchWorldOfTests } from '../../../testing/fetch-world.ts';
import { serves } from '../../../testing/origin.ts';

const BYTES = Buffer.from('the very bytes of a video, '.repeat(4000));
const { origin, fetchOf, faultOf } = await fetchWorldOfTests();
const RESULT = { resume: true, bytesMax: BYTES.length };
const packed = (body: Buffer, encoding: string): string => origin.url(serves(body, { 'content-encoding': encoding }));

describe('a result that its origin compresses unasked', () => {
  test.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['GZIP', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('is unpacked: %s', async (encoding, pack) => {
    expect(await fetchOf(packed(pack(BYTES), encoding), RESULT)).toEqual({ bytes: BYTES });
  });

  test.each<[string, string]>([
    ['more bytes than it may have', 'too_large'],
    ['a truncated body', 'encoding'],
    ['a body that is not packed', 'encoding'],
    ['no body', 'encoding'],
    ['an unknown encoding', 'encoding'],
    ['two encodings', 'encoding'],
  ])('is refused with %s', async (what, code) => {
    const bodies: Readonly<Record<string, string>> = {
      'more bytes than it may have': packed(gzipSync(Buffer.alloc(BYTES.length + 1)), 'gzip'),
      'a truncated body': packed(gzipSync(BYTES).subarray(0, -20), 'gzip'),
      'a body that is not packed': packed(BYTES.subarray(0, 100), 'gzip'),
      'no body': packed(Buffer.alloc(0), 'gzip'),
      'an unknown encoding': packed(BYTES.subarray(0, 100), 'compress'),
      'two encodings': packed(gzipSync(gzipSync(BYTES)), 'gzip, gzip'),
    };

    expect((await faultOf(bodies[what]!, RESULT)).code).toBe(code);
  });
});

test('a reference that its origin compresses unasked is refused', async () => {
  expect((await faultOf(packed(gzipSync(BYTES), 'gzip'), { resume: false })).code).toBe('encoding');
});
