import { createHash } from 'node:crypto';
import os from 'node:os';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { judgePresigned } from '../../testing/aws-signature.ts';
import { parseS3Address } from './s3-address.ts';
import { openS3Blobs } from './s3-blobs.ts';

/* The example of Amazon's own documentation of Signature Version 4 in a query. */
const EXAMPLE =
  'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256' +
  '&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request' +
  '&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host' +
  '&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404';
const EXAMPLE_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

const secret = 'the secret of the bucket';
const clock = fakeClock();
const blobs = openS3Blobs({
  address: parseS3Address('s3://reelgate-blobs/kept?public_endpoint=https://files.example'),
  scratch: os.tmpdir(),
  clock,
  newId: newIds(systemClock),
  credentials: { accessKeyId: new Secret('KEY'), secretAccessKey: new Secret(secret), sessionToken: undefined },
});
const key = `${createHash('sha256').update('a').digest('hex')}-b_1`;
const linkFor = async (secondsLeft: number, method: 'GET' | 'HEAD' = 'GET'): Promise<string> =>
  (await blobs.linkTo(key, { method, mediaType: 'video/mp4', fileName: 'a.mp4', secondsLeft })) ?? '';
const judge = (address: string, method = 'GET', now = clock.now()): string =>
  judgePresigned(address, method, { secret, now });

afterAll(() => {
  blobs.close();
});

test('the judge grants the documented example, and rejects an expired or forged one', () => {
  const now = Date.UTC(2013, 4, 24);

  expect(judgePresigned(EXAMPLE, 'GET', { secret: EXAMPLE_SECRET, now })).toBe('granted');
  expect(judgePresigned(EXAMPLE, 'GET', { secret: EXAMPLE_SECRET, now: now + 86_400_000 })).toBe('expired');
  expect(judgePresigned(EXAMPLE, 'GET', { secret: 'another', now })).toBe('forged');
});

describe('an address in the bucket', () => {
  test('grants access until its expiry, for its method only', async () => {
    const [get, head] = [await linkFor(600), await linkFor(600, 'HEAD')];

    expect([judge(get), judge(head, 'HEAD'), judge(get, 'HEAD'), judge(get, 'PUT'), judge(get, 'DELETE')]).toEqual([
      'granted',
      'granted',
      'forged',
      'forged',
      'forged',
    ]);
    expect([judge(get, 'GET', clock.now() + 599_000), judge(get, 'GET', clock.now() + 600_000)]).toEqual([
      'granted',
      'expired',
    ]);
    expect(get).not.toContain(secret);
  });

  test.each<[string, (address: string) => string]>([
    ['another object', (address) => address.replace(key, key.replace(/.$/, '2'))],
    ['another folder', (address) => address.replace('/kept/', '/other/')],
    ['a later expiry', (address) => address.replace('X-Amz-Expires=600', 'X-Amz-Expires=604800')],
    ['a later start', (address) => address.replace(/X-Amz-Date=\d{4}/, 'X-Amz-Date=2027')],
    ['another type', (address) => address.replace('video%2Fmp4', 'text%2Fhtml')],
    ['another name', (address) => address.replace('a.mp4', 'a.htm')],
    ['an additional parameter', (address) => `${address}&response-content-encoding=gzip`],
    ['another host', (address) => address.replace('files.example', 'files.other')],
    ['a truncated signature', (address) => address.replace(/X-Amz-Signature=([0-9a-f]{63})./, 'X-Amz-Signature=$1')],
  ])('grants no access with %s', async (_what, change) => {
    const address = await linkFor(600);

    expect(change(address)).not.toBe(address);
    expect(judge(change(address))).toBe('forged');
  });
});
