import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { JSON_AROUND_BYTES_MAX } from '../fetch/base64-json/read-base64-json.ts';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { spinningMp4 } from '../../testing/mp4.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Behaviour, Origin } from '../../testing/origin.ts';
import { png } from '../../testing/pictures.ts';

let origin: Origin;
let under: MediaUnderTest;
let tasks = 0;
const section = () => ({
  fetch: { allow: [origin.host] },
  results: { max_bytes: '300KiB' },
  probe: { timeout: '700ms' },
});
const newTask = (): string => `task_${(tasks += 1)}`;
const ingest = async (url: string, taskId = newTask()) =>
  (await under.client.ingestResult({ accountId: 'demo', taskId, url })).result!;
/** Resolves when the thumbnails of earlier results are drawn. */
const settled = async (): Promise<readonly string[]> => {
  await until(() => !under.blobs().some((name) => name.startsWith('in_')));
  return under.blobs();
};
const video: Behaviour = serves(fixture('768p.mp4'), { 'content-type': 'text/plain' });

beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({ section: section() });
});
afterAll(async () => {
  await under.close();
  await origin.close();
});

describe('a result', () => {
  test('is stored when the call ends, and the answer has its facts and its expiry', async () => {
    const before = Date.now();
    const result = await ingest(origin.url(video));

    expect(result).toMatchObject({
      mediaType: 'video/mp4',
      bytes: BigInt(fixture('768p.mp4').byteLength),
      width: 1344,
      height: 768,
      durationMs: 4458n,
      frameRate: 24,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(result.object).toMatch(/^vid_[0-9a-v]{32}$/);
    expect(Math.abs(timestampMs(result.expiresAt!) - before - 7 * 86_400_000)).toBeLessThan(10_000);
    expect(under.blobs().some((name) => name.startsWith(result.sha256))).toBe(true);
  });

  test.each(['clip.webm', 'clip.mov'])('can be a %s', async (name) => {
    expect((await ingest(origin.url(serves(fixture(name))))).mediaType).toMatch(/video\/(webm|quicktime)/);
  });

  test('of one task is fetched once by concurrent and later calls and after a restart', async () => {
    const taskId = newTask();
    const url = origin.url(video);
    const before = origin.hits.length;
    const [first, second] = await Promise.all([ingest(url, taskId), ingest(url, taskId)]);
    under = await under.restart();
    const third = await ingest(origin.url(serves(Buffer.from('another'))), taskId);

    expect(second).toEqual(first);
    expect(third).toEqual(first);
    expect(origin.hits.length).toBe(before + 1);
  });

  test('of two tasks with the same bytes is stored once under two ids', async () => {
    const [first, second] = [await ingest(origin.url(video)), await ingest(origin.url(video))];

    expect(second.object).not.toBe(first.object);
    expect(under.blobs().filter((name) => name.startsWith(first.sha256))).toHaveLength(1);
  });

  test('that was removed is not stored again', async () => {
    const taskId = newTask();
    await ingest(origin.url(video), taskId);

    expect((await under.client.removeResult({ taskId })).removed).toBe(true);
    expect((await under.client.removeResult({ taskId })).removed).toBe(false);
    await expect(ingest(origin.url(video), taskId)).rejects.toMatchObject({ kind: 'gone', reason: 'result_expired' });
  });

  test('that breaks off continues if the origin supports ranges', async () => {
    const whole = fixture('768p.mp4');
    const breaking: Behaviour = (request, response) => {
      const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
      if (from > 0)
        response
          .writeHead(206, {
            etag: '"1"',
            'content-range': `bytes ${from}-${whole.byteLength - 1}/${whole.byteLength}`,
          })
          .end(whole.subarray(from));
      else
        response
          .writeHead(200, { etag: '"1"', 'content-length': String(whole.byteLength) })
          .write(whole.subarray(0, 100_000), () => response.socket?.end());
    };

    expect((await ingest(origin.url(breaking))).bytes).toBe(BigInt(whole.byteLength));
  });
});

describe('a broken transfer', () => {
  const whole = fixture('768p.mp4');
  const SIZE = whole.byteLength;
  const HALF = 100_000;
  const other = Buffer.from(whole).fill(7, 150_000, 150_100);
  beforeAll(async () => {
    // the thumbnail of the successful video is already stored
    await ingest(origin.url(video));
    under = await under.restart();
  });
  const range = (from: number, to: number, size: number): Record<string, string> => ({
    'content-range': `bytes ${from}-${to}/${size}`,
  });
  const breaking =
    (rest: Behaviour, headers: Record<string, string> = { etag: '"1"' }): Behaviour =>
    (request, response) => {
      if (request.headers.range !== undefined) rest(request, response);
      else
        response
          .writeHead(200, { ...headers, 'content-length': String(SIZE) })
          .write(whole.subarray(0, HALF), () => response.socket?.end());
    };

  test.each<[string, Behaviour]>([
    [
      'of another version, despite If-Range',
      (_request, response) => {
        response.writeHead(206, { etag: '"2"', ...range(HALF, SIZE - 1, SIZE) }).end(other.subarray(HALF));
      },
    ],
    ['the whole of another file', serves(other, { etag: '"2"' })],
    [
      'the rest of a longer file',
      (_request, response) => {
        response
          .writeHead(206, range(HALF, SIZE, SIZE + 1))
          .end(Buffer.concat([whole.subarray(HALF), Buffer.alloc(1)]));
      },
    ],
    [
      'another part',
      (_request, response) => {
        response.writeHead(206, range(0, HALF - 1, SIZE)).end(whole.subarray(0, HALF));
      },
    ],
    [
      'a part of the rest',
      (_request, response) => {
        response.writeHead(206, range(HALF, SIZE - 10, SIZE)).end(whole.subarray(HALF, SIZE - 9));
      },
    ],
    [
      'shorter than its range',
      (_request, response) => {
        response
          .writeHead(206, { ...range(HALF, SIZE - 1, SIZE), connection: 'close', 'transfer-encoding': 'identity' })
          .end(whole.subarray(HALF, SIZE - 9));
      },
    ],
    [
      'without a range',
      (_request, response) => {
        response.writeHead(206).end(whole.subarray(HALF));
      },
    ],
    [
      'a 416 refusal',
      (_request, response) => {
        response.writeHead(416).end();
      },
    ],
    [
      'a 403 refusal',
      (_request, response) => {
        response.writeHead(403).end();
      },
    ],
  ])('whose rest is %s is refused, leaves nothing, and the next try is complete', async (_what, rest) => {
    const taskId = newTask();
    const before = await settled();

    await expect(ingest(origin.url(breaking(rest)), taskId)).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'result_unreachable',
    });
    expect(await settled()).toEqual(before);
    expect((await ingest(origin.url(video), taskId)).bytes).toBe(BigInt(SIZE));
  });

  test.each([
    [429, '90', 90_000],
    [503, '90', 90_000],
    [429, '1', 5000],
    [404, '90', 5000],
  ])('from an origin that answers %i with Retry-After %s is tried again after %i ms', async (status, after, ms) => {
    const url = origin.url((_request, response) => {
      response.writeHead(status, { 'retry-after': after }).end();
    });

    await expect(ingest(url)).rejects.toMatchObject({ reason: 'result_unreachable', retryAfterMs: ms });
  });

  test.each<[string, Record<string, string>]>([
    ['gives no ETag', {}],
    ['gives a weak ETag', { etag: 'W/"1"' }],
    ['supports no ranges', { etag: '"1"', 'accept-ranges': 'none' }],
  ])('from an origin that %s is not continued', async (_what, headers) => {
    const ranges: unknown[] = [];
    const url = origin.url((request, response) => {
      ranges.push(request.headers.range);
      breaking(video, headers)(request, response);
    });

    await expect(ingest(url)).rejects.toMatchObject({ reason: 'result_unreachable' });
    expect(ranges).toEqual([undefined]);
  });
});

describe('a file that is not a result', () => {
  beforeAll(async () => {
    // the thumbnails of earlier results are already drawn
    under = await under.restart();
  });

  test.each<[string, Behaviour]>([
    ['a page', serves(Buffer.from('<html>gateway</html>'))],
    ['nothing', serves(Buffer.alloc(0))],
    ['a picture', serves(png(300, 300))],
    ['half a video', serves(fixture('768p.mp4').subarray(0, 90_000))],
    ['a file that claims more than it holds', serves(spinningMp4())],
    ['a file over the limit', serves(Buffer.alloc(300 * 1024 + 1))],
    ['compressed', serves(fixture('768p.mp4'), { 'content-encoding': 'gzip' })],
    [
      'a redirect into the private network',
      (_request, response) => {
        response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      },
    ],
  ])('such as %s is refused and leaves nothing', async (_what, behaviour) => {
    const before = under.blobs();

    await expect(ingest(origin.url(behaviour))).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'result_refused',
      message: expect.not.stringMatching(/127\.0|169\.254/),
    });
    expect(under.blobs()).toEqual(before);
  });

  test.each([404, 403, 410, 429, 500, 503])('behind status %i can be tried again later', async (status) => {
    await expect(
      ingest(
        origin.url((_request, response) => {
          response.writeHead(status).end();
        }),
      ),
    ).rejects.toMatchObject({ kind: 'unavailable', reason: 'result_unreachable' });
  });

  test('an invalid or forbidden address is refused', async () => {
    for (const url of [
      'http://127.0.0.1:9/x.mp4',
      'http://10.0.0.1/x.mp4',
      'file:///etc/passwd',
      'data:video/mp4;base64,AAAA',
    ])
      await expect(ingest(url)).rejects.toMatchObject({ reason: 'result_refused' });
  });

  test('an origin that keeps breaking off is unreachable, and the next try can succeed', async () => {
    let requests = 0;
    const taskId = newTask();
    const url = origin.url((request, response) => {
      requests += 1;
      if (requests > 1) video(request, response);
      else response.writeHead(200, { 'content-length': '1000' }).write('x', () => response.socket?.destroy());
    });

    await expect(ingest(url, taskId)).rejects.toMatchObject({ reason: 'result_unreachable' });
    expect((await ingest(url, taskId)).mediaType).toBe('video/mp4');
  });
});

test('an expired result and its bytes are removed, and its object is remembered as ended', async () => {
  const clock = fakeClock();
  const short = await startMediaUnderTest({ clock, section: { ...section(), results: { lifetime: '3s' } } });
  const { result } = await short.client.ingestResult({ accountId: 'demo', taskId: 'task_1', url: origin.url(video) });
  expect(short.blobs()).toHaveLength(1);

  await clock.advance(3000);
  expect(await short.media.bytes.read(result!.object)).toBeUndefined();
  await expect(
    short.client.ingestResult({ accountId: 'demo', taskId: 'task_1', url: origin.url(video) }),
  ).rejects.toMatchObject({ reason: 'result_expired' });

  // past the pin of the upload, and then until the sweep has run
  await clock.advance(3_600_000);
  for (let tries = 0; tries < 1000 && short.blobs().length > 0; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    await clock.advance(30_000);
  }
  expect(short.blobs()).toEqual([]);
  await short.close();
});

describe('a result behind a credential', () => {
  const guarded =
    (header: string): Behaviour =>
    (request, response) => {
      if (request.headers[header] === 'upstream-key') video(request, response);
      else response.writeHead(401).end();
    };
  const ingestWith = (url: string, authorizationHeader: string, client = under.client) =>
    client.ingestResult({
      accountId: 'demo',
      taskId: newTask(),
      url,
      authorization: 'upstream-key',
      authorizationHeader,
    });

  test.each([
    ['', 'authorization'],
    ['authorization', 'authorization'],
    ['x-goog-api-key', 'x-goog-api-key'],
  ])('whose header is called %j is fetched with %s, and not without it', async (name, header) => {
    const url = origin.url(guarded(header));

    expect((await ingestWith(url, name)).result?.mediaType).toBe('video/mp4');
    await expect(ingest(url)).rejects.toMatchObject({ reason: 'result_unreachable' });
  });

  test.each([
    'Authorization',
    'X-Key',
    'host',
    'range',
    'cookie',
    'proxy-authorization',
    'x-',
    'x-key\r\nhost',
    'x key',
    `x-${'k'.repeat(61)}`,
  ])('is not requested if its header is called %j', async (name) => {
    const before = origin.hits.length;

    await expect(ingestWith(origin.url(video), name)).rejects.toMatchObject({
      reason: 'invalid_request',
      field: 'authorization_header',
    });
    expect(origin.hits.length).toBe(before);
  });

  test.each(['', 'x-goog-api-key'])(
    'never sends the credential in %j to another origin after a redirect',
    async (name) => {
      const elsewhere = await startOrigin();
      const both = await startMediaUnderTest({
        section: { ...section(), fetch: { allow: [origin.host, elsewhere.host] } },
      });
      const url = origin.url((_request, response) => {
        response.writeHead(302, { location: elsewhere.url(video) }).end();
      });
      await ingestWith(url, name, both.client);

      expect(origin.hits.at(-1)?.headers).toMatchObject({ [name || 'authorization']: 'upstream-key' });
      expect(elsewhere.hits).toHaveLength(1);
      expect(JSON.stringify(elsewhere.hits)).not.toContain('upstream-key');
      await both.close();
      await elsewhere.close();
    },
  );
});

describe('a result that is Base64 inside JSON', () => {
  const whole = fixture('768p.mp4');
  const PLACE = '/data/0/b64_json';
  const write = (bytes: Uint8Array, more: object = {}): Buffer =>
    Buffer.from(
      JSON.stringify({
        created: 1,
        data: [{ revised: 'a "boat"', b64_json: Buffer.from(bytes).toString('base64') }],
        ...more,
      }),
    );
  const ingestAt = (behaviour: Behaviour, base64At = PLACE, taskId = newTask()) =>
    under.client.ingestResult({ accountId: 'demo', taskId, url: origin.url(behaviour), base64At });
  beforeAll(async () => {
    // the thumbnail of this video is already stored
    await ingest(origin.url(video));
    under = await under.restart();
  });

  test.each<[string, Behaviour]>([
    ['at once', serves(write(whole), { 'content-type': 'application/json' })],
    [
      'in chunks of no known length',
      (_request, response) => {
        const text = write(whole, { usage: { seconds: 4 } });
        response.writeHead(200).write(text.subarray(0, 100_001), () => response.end(text.subarray(100_001)));
      },
    ],
  ])('and comes %s is stored as the bytes of the video', async (_how, behaviour) => {
    const { result } = await ingestAt(behaviour);

    expect(result).toMatchObject({
      mediaType: 'video/mp4',
      bytes: BigInt(whole.byteLength),
      sha256: createHash('sha256').update(whole).digest('hex'),
    });
  });

  test('may have JSON that is larger than the limit of the video', async () => {
    const text = write(whole, { more: 'x'.repeat(300 * 1024) });

    expect((await ingestAt(serves(text))).result?.bytes).toBe(BigInt(whole.byteLength));
  });

  const CUT = write(whole).subarray(0, 200_000);
  test.each<[string, Behaviour, string]>([
    ['in another place', serves(write(whole)), '/data/1/b64_json'],
    ['in the JSON of an error', serves(Buffer.from('{"error":{"message":"no"}}')), PLACE],
    ['the video itself', serves(whole), PLACE],
    ['a picture', serves(write(png(300, 300))), PLACE],
    ['no Base64', serves(Buffer.from('{"data":[{"b64_json":"<html>"}]}')), PLACE],
    ['cut although the answer is whole', serves(CUT), PLACE],
    ['over the limit when it is decoded', serves(write(Buffer.alloc(300 * 1024 + 1))), PLACE],
    ['in JSON that is too large', serves(write(whole, { more: 'x'.repeat(JSON_AROUND_BYTES_MAX) })), PLACE],
  ])('but is %s is refused and leaves nothing', async (_what, behaviour, place) => {
    const before = await settled();

    await expect(ingestAt(behaviour, place)).rejects.toMatchObject({ kind: 'invalid', reason: 'result_refused' });
    expect(await settled()).toEqual(before);
  });

  test('but breaks off is fetched again from its beginning at the next try', async () => {
    const before = await settled();
    const taskId = newTask();
    const ranges: unknown[] = [];
    const breaking: Behaviour = (request, response) => {
      ranges.push(request.headers.range);
      response
        .writeHead(200, { etag: '"1"', 'content-length': String(write(whole).byteLength) })
        .write(CUT, () => response.socket?.end());
    };

    await expect(ingestAt(breaking, PLACE, taskId)).rejects.toMatchObject({ reason: 'result_unreachable' });
    expect(await settled()).toEqual(before);
    expect(ranges).toEqual([undefined]);
    expect((await ingestAt(serves(write(whole)), PLACE, taskId)).result?.bytes).toBe(BigInt(whole.byteLength));
  });

  test.each(['data/0', '#/data', '/a~2', `/${'a'.repeat(256)}`])(
    'is not requested at %j, which is no pointer',
    async (place) => {
      const before = origin.hits.length;

      await expect(ingestAt(video, place)).rejects.toMatchObject({ reason: 'invalid_request', field: 'base64_at' });
      expect(origin.hits.length).toBe(before);
    },
  );
});
