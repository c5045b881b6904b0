import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { linkKey, signPath } from '@reelgate/platform/signatures';
import { Secret } from '@reelgate/platform/secret';
import { REPORTING_KEY, SIGNING_KEY, startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { fixture, serves, startOrigin } from '../../testing/origin.ts';
import type { Origin } from '../../testing/origin.ts';

const clock = fakeClock();
const WHOLE = fixture('768p.mp4');
const SIZE = WHOLE.byteLength;
let origin: Origin;
let under: MediaUnderTest;
let object: string;
let sha256: string;

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A client that adds no headers and follows no redirects. */
function ask(
  path: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(under.url + path, { method, headers, agent: false }, (response) => {
      response.toArray().then((parts) => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts as Buffer[]),
        });
      }, reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

const seconds = (ms: number): number => Math.floor(ms / 1000);
const link = (exp = seconds(clock.now()) + 3600, path = `/ximg/${object}.mp4`): string =>
  `${path}?${signPath(linkKey(SIGNING_KEY), path, exp)}`;
const errorOf = ({ body }: Answer): unknown => (JSON.parse(body.toString()) as { error: unknown }).error;

beforeAll(async () => {
  origin = await startOrigin();
  under = await startMediaUnderTest({
    clock,
    section: { ffmpeg: 'off', fetch: { allow: [origin.host] }, inline: { max_bytes: '1MiB' } },
  });
  const { result } = await under.client.ingestResult({
    accountId: 'demo',
    taskId: 'task_1',
    url: origin.url(serves(WHOLE, { 'set-cookie': 'a=b', 'x-upstream': 'secret' })),
  });
  ({ object, sha256 } = result!);
});
afterAll(async () => {
  await under.close();
  await origin.close();
});

describe('a served object', () => {
  test('comes whole, with headers of this service only', async () => {
    const { status, headers, body } = await ask(link());

    expect(status).toBe(200);
    expect(body.equals(WHOLE)).toBe(true);
    expect(
      Object.fromEntries(
        Object.entries(headers).filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name)),
      ),
    ).toEqual({
      'content-type': 'video/mp4',
      'content-length': String(SIZE),
      'accept-ranges': 'bytes',
      etag: `"${sha256}"`,
      'last-modified': new Date(clock.now()).toUTCString(),
      'content-disposition': `inline; filename="${object}.mp4"`,
      'cache-control': 'private, max-age=3600',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
  });

  test('gives its length on HEAD, without bytes', async () => {
    const { status, headers, body } = await ask(link(), { method: 'HEAD' });

    expect([status, headers['content-length'], body.byteLength]).toEqual([200, String(SIZE), 0]);
  });

  test.each<[string, number, number, number]>([
    ['bytes=0-9', 206, 0, 10],
    ['bytes=100-299', 206, 100, 300],
    ['bytes=0-0', 206, 0, 1],
    [`bytes=${SIZE - 1}-`, 206, SIZE - 1, SIZE],
    ['bytes=5-', 206, 5, SIZE],
    ['bytes=-5', 206, SIZE - 5, SIZE],
    [`bytes=-${SIZE}`, 206, 0, SIZE],
    [`bytes=-${SIZE + 1}`, 206, 0, SIZE],
    ['bytes=-99999999999999999999', 206, 0, SIZE],
    [`bytes=0-${SIZE * 2}`, 206, 0, SIZE],
    ['bytes=0-9,20-29', 200, 0, SIZE],
    ['bytes=a-b', 200, 0, SIZE],
    ['items=0-9', 200, 0, SIZE],
    ['', 200, 0, SIZE],
  ])('Range: %s gives %i', async (range, status, from, to) => {
    const answer = await ask(link(), { headers: { range } });

    expect(answer.status).toBe(status);
    expect(answer.body.equals(WHOLE.subarray(from, to))).toBe(true);
    expect(answer.headers['content-length']).toBe(String(to - from));
    expect(answer.headers['content-range']).toBe(status === 206 ? `bytes ${from}-${to - 1}/${SIZE}` : undefined);
  });

  test.each([
    `bytes=${SIZE}-`,
    `bytes=${SIZE + 5}-${SIZE + 9}`,
    'bytes=9-0',
    'bytes=-0',
    'bytes=99999999999999999999-',
  ])('Range: %s gives 416', async (range) => {
    const answer = await ask(link(), { headers: { range } });

    expect([answer.status, answer.headers['content-range'], errorOf(answer)]).toEqual([
      416,
      `bytes */${SIZE}`,
      expect.objectContaining({ code: 'range_not_satisfiable' }),
    ]);
  });

  test('If-Range gives a part only of the version that the client has', async () => {
    const part = (condition: string): Promise<Answer> =>
      ask(link(), { headers: { range: 'bytes=0-9', 'if-range': condition } });

    expect((await part(`"${sha256}"`)).status).toBe(206);
    expect((await part('"another"')).status).toBe(200);
    expect((await part(new Date(clock.now()).toUTCString())).status).toBe(206);
    expect((await part(new Date(clock.now() - 86_400_000).toUTCString())).status).toBe(200);
  });

  test.each<[Record<string, string>, number]>([
    [{ 'if-none-match': 'ETAG' }, 304],
    [{ 'if-none-match': 'W/ETAG' }, 304],
    [{ 'if-none-match': '*' }, 304],
    [{ 'if-none-match': '"x", ETAG' }, 304],
    [{ 'if-none-match': 'ETAG', 'cache-control': 'no-cache' }, 304],
    [{ 'if-none-match': '"x"', 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }, 200],
    [{ 'if-modified-since': 'yesterday' }, 200],
    [{ 'if-none-match': 'ETAG', range: 'bytes=0-9' }, 304],
    [{ 'if-match': '"x"', range: 'bytes=0-9' }, 412],
    [{ 'if-none-match': '"x"' }, 200],
    [{ 'if-match': 'ETAG' }, 200],
    [{ 'if-match': '"x"' }, 412],
    [{ 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }, 304],
    [{ 'if-modified-since': 'Fri, 01 Jan 2010 00:00:00 GMT' }, 200],
    [{ 'if-unmodified-since': 'Fri, 01 Jan 2010 00:00:00 GMT' }, 412],
  ])('%j gives %i', async (headers, status) => {
    const named = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('ETAG', `"${sha256}"`)]),
    );

    expect((await ask(link(), { headers: named })).status).toBe(status);
  });

  test.each([
    ['clip.webm', 320, 256],
    ['768p.mp4', 1280, 731],
  ])('has a thumbnail, also in ranges, if its codec is decoded: %s', async (name, width, height) => {
    const headers = { authorization: `Bearer ${under.serviceKey}` };
    const { result } = await under.client.ingestResult({
      accountId: 'demo',
      taskId: `task_thumbnail_${name}`,
      url: origin.url(serves(fixture(name))),
    });
    const still = await ask(`/bytes/${result!.object}?variant=thumbnail`, { headers });
    const part = await ask(`/bytes/${result!.object}?variant=thumbnail`, {
      headers: { ...headers, range: 'bytes=0-1' },
    });

    expect([still.status, still.headers['content-type'], part.status, part.body.toString('hex')]).toEqual([
      200,
      'image/jpeg',
      206,
      'ffd8',
    ]);
    expect(await sharp(still.body).metadata()).toMatchObject({ format: 'jpeg', width, height });

    await under.client.removeResult({ taskId: `task_thumbnail_${name}` });
    expect((await ask(`/bytes/${result!.object}?variant=thumbnail`, { headers })).status).toBe(410);
  });

  test('gives 404 thumbnail_unavailable if its codec is not decoded and ffmpeg is off', async () => {
    const headers = { authorization: `Bearer ${under.serviceKey}` };
    const { result } = await under.client.ingestResult({
      accountId: 'demo',
      taskId: 'task_no_thumbnail',
      url: origin.url(serves(fixture('high-422.mp4'))),
    });
    const none = await ask(`/bytes/${result!.object}?variant=thumbnail`, { headers });

    expect([none.status, errorOf(none)]).toEqual([404, expect.objectContaining({ code: 'thumbnail_unavailable' })]);
    await under.client.removeResult({ taskId: 'task_no_thumbnail' });
  });

  test('is still served after a client left early', async () => {
    const left = await new Promise<string>((resolve) => {
      const request = httpRequest(under.url + link(), { agent: false }, (response) => {
        response
          .once('data', () => {
            request.destroy();
          })
          .once('close', () => {
            resolve('left');
          });
      });
      request
        .on('error', () => {
          resolve('left');
        })
        .end();
    });

    expect(left).toBe('left');
    expect((await ask(link())).status).toBe(200);
  });
});

describe('a link', () => {
  const signedBy = (secret: string, path: string, exp: number): string =>
    `${path}?${signPath(new Secret(secret), path, exp)}`;
  const soon = seconds(clock.now()) + 3600;

  test.each<[string, () => string, number, string]>([
    ['of another key', () => signedBy('another key', `/ximg/${object}.mp4`, soon), 403, 'invalid_link'],
    ['of another object', () => link().replace(object, `${object.slice(0, -1)}x`), 403, 'invalid_link'],
    ['with another extension', () => link().replace('.mp4', '.mov'), 403, 'invalid_link'],
    ['with a later end', () => link().replace(/exp=\d+/, `exp=${soon + 9999}`), 403, 'invalid_link'],
    ['with two ends', () => `${link()}&exp=${soon + 9999}`, 403, 'invalid_link'],
    ['with two signatures', () => `${link()}&sig=x`, 403, 'invalid_link'],
    ['without an end', () => link().replace(/exp=\d+&/, ''), 403, 'invalid_link'],
    ['without a signature', () => link().replace(/&sig=.*/, ''), 403, 'invalid_link'],
    ['without either', () => `/ximg/${object}.mp4`, 403, 'invalid_link'],
    ['with an invalid end', () => link().replace(/exp=\d+/, 'exp=1e99'), 403, 'invalid_link'],
    ['out of the folder', () => '/ximg/../../etc/passwd', 404, ''],
    ['out of the folder, encoded', () => '/ximg/%2e%2e%2fmedia.sqlite?exp=1&sig=x', 403, 'invalid_link'],
    ['to nothing', () => link(soon, '/ximg/vid_unknown.mp4'), 404, 'not_found'],
    ['that has ended', () => link(seconds(clock.now())), 410, 'result_expired'],
    ['that ended long ago', () => link(1), 410, 'result_expired'],
  ])('%s gives nothing', async (_what, path, status, code) => {
    const answer = await ask(path());

    expect(answer.status).toBe(status);
    if (code !== '')
      expect(errorOf(answer)).toEqual({
        message: expect.any(String),
        type: 'invalid_request_error',
        param: null,
        code,
      });
    expect(answer.headers['content-type'] ?? '').not.toMatch(/video/);
    expect(answer.body.toString()).not.toMatch(/blobs|sqlite|\/tmp/);
  });

  test('that is refused gives no body on HEAD', async () => {
    expect(await ask(`/ximg/${object}.mp4`, { method: 'HEAD' })).toMatchObject({ status: 403, body: Buffer.alloc(0) });
  });

  test.each(['POST', 'PUT', 'DELETE'])('does not answer %s', async (method) => {
    expect(await ask(link(), { method })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
  });

  test('ends with its object', async () => {
    const { result } = await under.client.ingestResult({
      accountId: 'demo',
      taskId: 'task_2',
      url: origin.url(serves(fixture('clip.webm'))),
    });
    const path = link(soon, `/ximg/${result!.object}.webm`);
    expect(await ask(path)).toMatchObject({ status: 200, headers: { 'content-type': 'video/webm' } });

    await under.client.removeResult({ taskId: 'task_2' });

    expect((await ask(path)).status).toBe(410);
  });
});

describe('the internal port', () => {
  const authorized = (): Record<string, string> => ({ authorization: `Bearer ${under.serviceKey}` });
  const bytesOf = ({ body }: Answer): { object: string; bytes: number } =>
    JSON.parse(body.toString()) as { object: string; bytes: number };

  test('stores bytes and returns them', async () => {
    const put = await ask('/bytes?account=demo', { method: 'PUT', headers: authorized(), body: fixture('image.png') });
    const { object: inline, bytes } = bytesOf(put);
    const got = await ask(`/bytes/${inline}`, {
      headers: { ...authorized(), range: 'bytes=0-3', 'x-file-name': 'my "picture"\u00e9.png' },
    });

    expect([put.status, bytes]).toEqual([200, fixture('image.png').byteLength]);
    expect(got).toMatchObject({
      status: 206,
      headers: { 'content-disposition': 'inline; filename="my__picture__.png"' },
    });
    expect(got.body.equals(fixture('image.png').subarray(0, 4))).toBe(true);
  });

  test.each([
    ['GET', '/bytes/obj_none'],
    ['HEAD', '/bytes/obj_none'],
    ['PUT', '/bytes?account=demo'],
  ])('refuses %s %s to a caller that has a key without the scope', async (method, path) => {
    const refused = await ask(path, {
      method,
      headers: { authorization: `Bearer ${REPORTING_KEY}` },
      ...(method === 'PUT' ? { body: Buffer.from('bytes') } : {}),
    });

    expect(refused.status).toBe(403);
    if (method !== 'HEAD')
      expect(errorOf(refused)).toMatchObject({
        code: 'scope_missing',
        message: '/bytes needs the scope media.internal; the caller reporting has tasks.read, operator',
      });
  });

  test('stores private bytes for the requested time, or until they are removed', async () => {
    const keep = async (ms: string): Promise<Answer> =>
      ask(`/bytes?account=demo&private_ms=${ms}`, {
        method: 'PUT',
        headers: authorized(),
        body: Buffer.from('for this service only'),
      });
    const status = async (id: string): Promise<number> => (await ask(`/bytes/${id}`, { headers: authorized() })).status;
    const [brief, long] = [bytesOf(await keep('1000')).object, bytesOf(await keep('900000000')).object];

    expect([brief.slice(0, 4), await status(brief), await status(long)]).toEqual(['prv_', 200, 200]);
    await clock.advance(1000);
    expect([await status(brief), await status(long)]).toEqual([410, 200]);
    await under.client.removePrivate({ objects: [long, 'prv_unknown'] });
    expect(await status(long)).toBe(404);
    for (const ms of ['', '0', '-1', 'soon', '1.5']) expect((await keep(ms)).status).toBe(400);
  });

  test('gives no link to private bytes', async () => {
    const { object: own } = bytesOf(
      await ask('/bytes?account=demo&private_ms=1000000', {
        method: 'PUT',
        headers: authorized(),
        body: Buffer.from('for this service only'),
      }),
    );

    expect((await ask(`/ximg/${own}.bin`)).status).toBe(403);
    expect((await ask(`/bytes/${own}`)).status).toBe(401);
    await expect(under.client.removePrivate({ objects: Array.from({ length: 201 }, () => own) })).rejects.toMatchObject(
      { field: 'objects' },
    );
  });

  test.each<[string, string, Record<string, string>]>([
    ['PUT', '/bytes?account=demo', {}],
    ['PUT', '/bytes?account=demo', { authorization: 'Bearer wrong' }],
    ['GET', '/bytes/OBJECT', {}],
    ['GET', '/bytes/OBJECT', { authorization: 'Basic x' }],
    ['HEAD', '/bytes/OBJECT', {}],
  ])('refuses %s %s with %j', async (method, path, headers) => {
    const answer = await ask(path.replace('OBJECT', object), { method, headers });

    expect(answer.status).toBe(401);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('refuses a request without an account, with too many bytes, or without a route', async () => {
    expect((await ask('/bytes', { method: 'PUT', headers: authorized(), body: Buffer.from('x') })).status).toBe(400);
    expect(
      errorOf(
        await ask('/bytes?account=demo', { method: 'PUT', headers: authorized(), body: Buffer.alloc(1024 ** 2 + 1) }),
      ),
    ).toMatchObject({ code: 'body_too_large' });
    expect(
      (
        await ask('/bytes?account=demo', {
          method: 'PUT',
          headers: { ...authorized(), 'transfer-encoding': 'chunked' },
          body: Buffer.alloc(3 * 1024 ** 2),
        })
      ).status,
    ).toBe(413);
    expect((await ask('/bytes/inl_unknown', { headers: authorized() })).status).toBe(404);
    expect((await ask('/bytes/a/b', { headers: authorized() })).status).toBe(404);
    for (const query of [
      'object=prv_aaaaaaaaaaaaaaaaaaaaaaaa',
      'private_ms=1000&object=inl_aaaaaaaaaaaaaaaaaaaaaaaa',
    ]) {
      const put = { method: 'PUT', headers: authorized(), body: Buffer.from('x') };
      expect((await ask(`/bytes?account=demo&${query}`, put)).status).toBe(400);
    }
    expect(
      (
        await ask('/bytes?account=demo&bytes_max=3', {
          method: 'PUT',
          headers: { ...authorized(), 'transfer-encoding': 'chunked' },
          body: Buffer.from('four'),
        })
      ).status,
    ).toBe(413);
  });

  test('limits the bytes of an account over HTTP and in the process, and still serves other accounts', async () => {
    const narrow = await startMediaUnderTest({
      clock,
      section: { inline: { per_account: '3KiB', max_bytes: '2KiB' } },
    });
    const put = (account: string, bytes: number) =>
      fetch(`${narrow.url}/bytes?account=${account}&bytes_max=${bytes}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${narrow.serviceKey}` },
        body: Buffer.alloc(bytes, account),
      });

    expect((await put('demo', 2000)).status).toBe(200);
    const refused = await put('demo', 1500);
    expect([
      refused.status,
      refused.headers.get('retry-after'),
      ((await refused.json()) as { error: { code: string } }).error.code,
    ]).toEqual([429, '5', 'rate_limit_exceeded']);
    expect((await put('demo', 1000)).status).toBe(200);
    await expect(narrow.media.bytes.put(Buffer.alloc(100), { accountId: 'demo' })).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'rate_limit_exceeded',
    });
    expect((await put('other', 2000)).status).toBe(200);
    await narrow.close();
  });

  test('keeps nothing of an upload that breaks off', async () => {
    const before = under.blobs();
    const request = httpRequest(`${under.url}/bytes?account=demo`, {
      method: 'PUT',
      agent: false,
      headers: { ...authorized(), 'content-length': '5000' },
    });
    request.on('error', () => undefined).write(Buffer.alloc(1000));
    const differ = async (expected: boolean): Promise<void> => {
      for (let tries = 0; tries < 1000 && (under.blobs().length !== before.length) !== expected; tries += 1)
        await new Promise((resolve) => setImmediate(resolve));
    };
    await differ(true);
    expect(under.blobs().length).toBe(before.length + 1);

    request.destroy();

    await differ(false);
    expect(under.blobs()).toEqual(before);
  });
});

describe('the bytes API of the process', () => {
  test('reads bytes whole with their type until they expire', async () => {
    const read = await under.media.bytes.read(object);

    expect(read).toMatchObject({ bytes: SIZE, mediaType: 'video/mp4' });
    expect(Buffer.concat((await read!.stream.toArray()) as Buffer[]).equals(WHOLE)).toBe(true);
    expect(await under.media.bytes.read('vid_unknown')).toBeUndefined();
  });

  test('stores a stream like a buffer, and the same content once', async () => {
    const before = under.blobs().length;
    const stream = await under.media.bytes.put(Readable.from([Buffer.from('in '), Buffer.from('parts')]), {
      accountId: 'demo',
    });
    const buffer = await under.media.bytes.put(Buffer.from('in parts'), { accountId: 'other' });

    expect([stream.bytes, buffer.bytes]).toEqual([8, 8]);
    expect(stream.object).not.toBe(buffer.object);
    expect(under.blobs().length).toBe(before + 1);
    await expect(under.media.bytes.put(Buffer.alloc(1024 ** 2 + 1), { accountId: 'demo' })).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'body_too_large',
    });
  });
});
