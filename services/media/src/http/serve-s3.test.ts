import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { linkKey, signPath } from '@reelgate/platform/signatures';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { SIGNING_KEY, startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';
import { S3_KEYS, startS3Server } from '../../testing/s3-server.ts';
import type { S3Server } from '../../testing/s3-server.ts';

const WHOLE = fixture('768p.mp4');
const SIZE = WHOLE.byteLength;
let origin: Origin;
let server: S3Server;
let disk: MediaUnderTest;
let bucket: MediaUnderTest;

const bucketSection = () => ({
  fetch: { allow: [origin.host] },
  blobs: `s3://${server.bucket}?endpoint=${server.endpoint}`,
  s3: S3_KEYS,
});
const resultOf = async (under: MediaUnderTest): Promise<string> => {
  const { result } = await under.client.ingestResult({
    accountId: 'demo',
    taskId: `task_${systemClock.now()}`,
    url: origin.url(serves(WHOLE)),
  });
  const path = `/ximg/${result!.object}.mp4`;
  return `${under.url}${path}?${signPath(linkKey(SIGNING_KEY), path, Math.floor(systemClock.now() / 1000) + 3600)}`;
};

beforeAll(async () => {
  [origin, server] = await Promise.all([startOrigin(), startS3Server()]);
  disk = await startMediaUnderTest({ section: { fetch: { allow: [origin.host] } } });
  bucket = await startMediaUnderTest({ section: bucketSection() });
});
afterAll(async () => {
  await Promise.all([disk, bucket].map((under) => under.close()));
  await Promise.all([origin, server].map((each) => each.close()));
});

describe('a bucket and a folder give the same answer', () => {
  let links: readonly string[];
  beforeAll(async () => {
    links = await Promise.all([resultOf(disk), resultOf(bucket)]);
  });
  const answers = (init: RequestInit): Promise<readonly unknown[]> =>
    Promise.all(
      links.map(async (link) => {
        const response = await fetch(link, init);
        const told = [
          'content-type',
          'content-length',
          'content-range',
          'accept-ranges',
          'etag',
          'x-content-type-options',
          'content-security-policy',
        ];
        return [
          response.status,
          told.map((name) => response.headers.get(name)),
          createHash('sha256')
            .update(Buffer.from(await response.arrayBuffer()))
            .digest('hex'),
        ];
      }),
    );

  test.each([
    {},
    { range: 'bytes=0-9' },
    { range: 'bytes=100-' },
    { range: 'bytes=-5' },
    { range: `bytes=${SIZE - 1}-` },
    { range: `bytes=0-${SIZE * 2}` },
    { range: `bytes=${SIZE}-` },
    { range: 'bytes=9-0' },
    { range: 'bytes=0-1,4-5' },
    { range: 'items=0-1' },
    { range: 'bytes=0-9', 'if-range': '"another"' },
    { 'if-none-match': '*' },
    { 'if-match': '"x"' },
    { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
  ] as Record<string, string>[])('to a request with %j', async (headers) => {
    for (const method of ['GET', 'HEAD']) {
      const [folder, inBucket] = await answers({ method, headers });
      expect(inBucket).toEqual(folder);
    }
  });

  test('with the bytes of the result', async () => {
    expect(Buffer.from(await (await fetch(links[1]!)).arrayBuffer()).equals(WHOLE)).toBe(true);
    // a thumbnail may still be in progress, in a file that is removed with it
    for (let tries = 0; tries < 100_000 && bucket.blobs().length > 0; tries += 1)
      await new Promise((resolve) => setImmediate(resolve));
    expect(bucket.blobs()).toEqual([]);
  });
});

test('bytes in an unreachable bucket give 503 with a time to wait, and the answer hides their location', async () => {
  const emptied = await startS3Server();
  const under = await startMediaUnderTest({
    section: { ...bucketSection(), blobs: `s3://${emptied.bucket}?endpoint=${emptied.endpoint}` },
  });
  const link = await resultOf(under);
  await emptied.close();
  const answer = await fetch(link);

  expect([answer.status, Number(answer.headers.get('retry-after'))]).toEqual([503, expect.any(Number)]);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await answer.text()).not.toMatch(/127\.0|s3|bucket/i);
  await under.close();
}, 120_000);

describe('with results.redirect, clients are redirected to the bucket', () => {
  let redirecting: MediaUnderTest;
  beforeAll(async () => {
    redirecting = await startMediaUnderTest({ section: { ...bucketSection(), results: { redirect: true } } });
  });
  afterAll(() => redirecting.close());

  test('for a result, by an address that expires within the hour and serves ranges', async () => {
    const link = await resultOf(redirecting);
    const answer = await fetch(link, { redirect: 'manual' });
    const location = new URL(answer.headers.get('location')!);

    expect([answer.status, location.origin, answer.headers.get('cache-control')]).toEqual([
      302,
      server.endpoint,
      'no-store',
    ]);
    expect(Number(location.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(3600);
    expect(Buffer.from(await (await fetch(link)).arrayBuffer()).equals(WHOLE)).toBe(true);
    expect((await fetch(link, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
    expect((await fetch(link, { method: 'HEAD' })).headers.get('content-length')).toBe(String(SIZE));
  });

  test('but our services get its bytes, or a range of them, from here', async () => {
    const object = /vid_[^.]+/.exec(await resultOf(redirecting))![0];
    const answer = await fetch(`${redirecting.url}/bytes/${object}?redirect=no`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${redirecting.serviceKey}`, range: 'bytes=10-19' },
    });
    const opened = await redirecting.media.bytes.read(object, { start: 10, end: 19 });

    expect(answer.status).toBe(206);
    expect(Buffer.from(await answer.arrayBuffer()).equals(WHOLE.subarray(10, 20))).toBe(true);
    expect(Buffer.concat((await opened!.stream.toArray()) as Buffer[]).equals(WHOLE.subarray(10, 20))).toBe(true);
    expect([opened!.bytes, `"${opened!.sha256}"`]).toEqual([SIZE, answer.headers.get('etag')]);
  });

  test('but not for other media', async () => {
    const { object } = await redirecting.media.bytes.put(fixture('image.png'), { accountId: 'demo' });
    const answer = await fetch(`${redirecting.url}/bytes/${object}`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${redirecting.serviceKey}` },
    });

    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  });
});

test('an expired result leaves the bucket with its thumbnail', async () => {
  const clock = fakeClock(systemClock.now());
  const brief = await startMediaUnderTest({
    clock,
    section: {
      ...bucketSection(),
      blobs: `s3://${server.bucket}/brief?endpoint=${server.endpoint}`,
      results: { lifetime: '3s' },
    },
  });
  const left = async (): Promise<number> =>
    ((await (await fetch(`${server.endpoint}/${server.bucket}?prefix=brief/`)).text()).match(/<Key>/g) ?? []).length;
  const link = await resultOf(brief);
  expect(await left()).toBeGreaterThan(0);

  await clock.advance(3000);
  expect((await fetch(link)).status).toBe(410);
  // past the pin of the upload, and then until the sweep has run
  await clock.advance(3_600_000);
  for (let tries = 0; tries < 500 && (await left()) > 0; tries += 1) await clock.advance(30_000);
  expect(await left()).toBe(0);
  await brief.close();
}, 120_000);

describe('the address for a channel', () => {
  const staged = async (under: MediaUnderTest): Promise<string> => {
    const { object } = await under.media.bytes.put(fixture('image.png'), { accountId: 'demo' });
    return (await under.client.stageMedia({ accountId: 'demo', taskId: '', category: Category.IMAGE, object })).media!
      .object;
  };

  test('leads into the bucket if the operator says that channels can reach it', async () => {
    const under = await startMediaUnderTest({ section: { ...bucketSection(), staged: { presigned: true } } });
    const { url } = await under.client.linkObject({ object: await staged(under) });
    const answer = await fetch(url);

    expect(new URL(url).origin).toBe(server.endpoint);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await under.client.linkObject({ object: 'med_unknown' })).url).toBe('');
    await under.close();
  });

  test('does not exist for a bucket at a private address or for a folder', async () => {
    expect((await bucket.client.linkObject({ object: await staged(bucket) })).url).toBe('');
    expect((await disk.client.linkObject({ object: await staged(disk) })).url).toBe('');
  });

  test('leads to the public address of a bucket that has one', async () => {
    const under = await startMediaUnderTest({
      section: {
        ...bucketSection(),
        blobs: `s3://${server.bucket}?endpoint=${server.endpoint}&public_endpoint=https://files.example`,
      },
    });

    expect(new URL((await under.client.linkObject({ object: await staged(under) })).url).origin).toBe(
      'https://files.example',
    );
    await under.close();
  });
});
