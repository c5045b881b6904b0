import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { call } from '../../testing/http-call.ts';
import { httpMedia } from './http-media.ts';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

let seen: Seen[];
let answer: (response: http.ServerResponse) => void;
let media: ReturnType<typeof httpMedia>;
let upstream: http.Server;
let front: http.Server;
let faults: unknown[];

const listen = async (server: http.Server): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
let frontUrl: string;

beforeEach(async () => {
  seen = [];
  faults = [];
  answer = (response) =>
    response
      .writeHead(200, { 'content-type': 'video/mp4', 'content-length': '5', 'x-of-ours': 'secret', etag: '"e"' })
      .end('bytes');
  upstream = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      seen.push({
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      answer(response);
    });
  });
  media = httpMedia({ baseUrl: await listen(upstream), key: new Secret('the key'), clock: systemClock });
  front = http.createServer((request, response) => {
    const serve =
      request.url?.startsWith('/ximg/') === true
        ? media.serveLink(request, response)
        : media.serve(request, response, { object: 'obj_1', fileName: 'task_1.mp4' });
    serve.catch((error: unknown) => {
      faults.push(error);
      response.writeHead(500).end();
    });
  });
  frontUrl = await listen(front);
});
afterEach(async () => {
  await media.close();
  front.close();
  upstream.close();
  upstream.closeAllConnections();
});

test('an object is requested with the service key and passed through with its headers', async () => {
  const got = await call(frontUrl, 'GET', '/content', {
    token: null,
    headers: { range: 'bytes=0-4', 'if-range': '"e"', cookie: 'private' },
  });

  expect([got.status, got.text, got.headers['content-type'], got.headers.etag]).toEqual([
    200,
    'bytes',
    'video/mp4',
    '"e"',
  ]);
  expect(got.headers).not.toHaveProperty('x-of-ours');
  expect(seen).toMatchObject([
    {
      method: 'GET',
      url: '/bytes/obj_1',
      headers: {
        authorization: 'Bearer the key',
        range: 'bytes=0-4',
        'if-range': '"e"',
        'x-file-name': 'task_1.mp4',
        'accept-encoding': 'identity',
      },
    },
  ]);
  expect(seen[0]?.headers).not.toHaveProperty('cookie');
});

test('private bytes are stored for the requested time, and can be read back', async () => {
  answer = (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"prv_1","bytes":3}');
  expect(await media.putPrivate(Buffer.from('abc'), { accountId: 'a b', keepMs: 5000 })).toEqual({
    object: 'prv_1',
    bytes: 3,
  });
  expect(seen).toMatchObject([
    {
      method: 'PUT',
      url: '/bytes?account=a%20b&private_ms=5000',
      body: 'abc',
      headers: { authorization: 'Bearer the key' },
    },
  ]);

  await media.putPrivate(Buffer.from('abc'), { accountId: 'demo', keepMs: 1, object: 'prv_mine' });
  expect(seen.pop()).toMatchObject({ url: '/bytes?account=demo&private_ms=1&object=prv_mine' });

  answer = (response) => response.writeHead(200).end('abc');
  expect(Buffer.concat((await (await media.read('prv_1'))!.toArray()) as Buffer[]).toString()).toBe('abc');
  expect(seen[1]).toMatchObject({ method: 'GET', url: '/bytes/prv_1', headers: { authorization: 'Bearer the key' } });
});

test('the bytes of a reserved file stream through, and more than were reserved are a refusal', async () => {
  answer = (response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"file_1","bytes":6}');
  expect(
    await media.putFile(Readable.from(['abc', 'def'], { objectMode: false }), { accountId: 'a b', id: 'file_1' }),
  ).toBe(6);
  expect(seen).toMatchObject([{ method: 'PUT', url: '/bytes?account=a%20b&file=file_1', body: 'abcdef' }]);

  answer = (response) => response.writeHead(413).end('{"error":{"code":"body_too_large","message":"too many"}}');
  await expect(media.putFile(Readable.from(['a']), { accountId: 'demo', id: 'file_1' })).rejects.toMatchObject({
    kind: 'invalid',
    reason: 'body_too_large',
  });
});

test.each([
  [404, undefined],
  [410, undefined],
])('bytes that no longer exist (%i) are undefined, not a fault', async (status, nothing) => {
  answer = (response) => response.writeHead(status).end('{}');

  expect(await media.read('prv_1')).toBe(nothing);
});

test('bytes that cannot be read now mean an unavailable service', async () => {
  answer = (response) => response.writeHead(500).end('{}');

  await expect(media.read('prv_1')).rejects.toMatchObject({ kind: 'unavailable', reason: 'service_unavailable' });
});

test('a link is passed through with its query and without the key', async () => {
  await call(frontUrl, 'HEAD', '/ximg/obj_1.mp4?exp=1&sig=x', { token: 'a site token' });

  expect(seen).toMatchObject([{ method: 'HEAD', url: '/ximg/obj_1.mp4?exp=1&sig=x' }]);
  expect(seen[0]?.headers).not.toHaveProperty('authorization');
});

test.each([206, 304, 416])('%i is an answer', async (status) => {
  answer = (response) => response.writeHead(status, { 'content-range': 'bytes */9' }).end();
  const got = await call(frontUrl, 'GET', '/content', { token: null });

  expect([got.status, got.headers['content-range']]).toEqual([status, 'bytes */9']);
});

test.each([
  [410, 'result_expired'],
  [404, 'not_found'],
  [403, 'not_found'],
  [500, 'service_unavailable'],
])('%i becomes a refusal of the gateway, without the text of the media service', async (status, reason) => {
  answer = (response) => response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"inner"}');
  const got = await call(frontUrl, 'GET', '/content', { token: null });

  expect(faults).toMatchObject([{ reason }]);
  expect(got.text).toBe('');
});

test('a client that leaves closes the connection to media, and is not a fault', async () => {
  let cut: Promise<unknown> = Promise.resolve();
  answer = (response) => {
    cut = once(response, 'close');
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': '1000000000' });
    response.write('x'.repeat(1000));
  };
  const request = http.get(`${frontUrl}/content`);
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  response.destroy();
  await cut;

  expect(faults).toEqual([]);
});

describe('bytes that a client sent', () => {
  beforeEach(() => {
    answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":"obj_9","bytes":6}');
  });

  test('are stored for the account as they arrive', async () => {
    expect(
      await media.put(Readable.from([Buffer.from('abc'), Buffer.from('def')]), { accountId: 'a&b', bytesMax: 9 }),
    ).toEqual({ object: 'obj_9', bytes: 6 });
    expect(await media.put(Buffer.from('abcdef'), { accountId: 'demo', bytesMax: 9 })).toEqual({
      object: 'obj_9',
      bytes: 6,
    });
    expect(seen).toMatchObject([
      {
        method: 'PUT',
        url: '/bytes?account=a%26b&bytes_max=9',
        body: 'abcdef',
        headers: { authorization: 'Bearer the key' },
      },
      { url: '/bytes?account=demo&bytes_max=9', body: 'abcdef' },
    ]);
  });
  test('over the limit are refused', async () => {
    answer = (response) =>
      response
        .writeHead(413, { 'content-type': 'application/json' })
        .end('{"error":{"code":"body_too_large","message":"at most 64 MiB"}}');

    await expect(media.put(Buffer.from('x'), { accountId: 'demo', bytesMax: 9 })).rejects.toMatchObject({
      kind: 'invalid',
      reason: 'body_too_large',
      message: 'at most 64 MiB',
    });
  });
  test.each([
    [401, '{"error":{"code":"invalid_caller_key"}}'],
    [500, 'oops'],
    [200, 'oops'],
  ])('that media did not take (%i %s) may be sent again', async (status, body) => {
    answer = (response) => response.writeHead(status).end(body);

    await expect(media.put(Buffer.from('x'), { accountId: 'demo', bytesMax: 9 })).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'service_unavailable',
    });
  });
  test('over the limit of the account are refused for the time that media names', async () => {
    answer = (response) =>
      response
        .writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' })
        .end('{"error":{"code":"rate_limit_exceeded","message":"at most 512 MiB"}}');

    await expect(media.put(Buffer.from('x'), { accountId: 'demo', bytesMax: 1 })).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'rate_limit_exceeded',
      retryAfterMs: 7000,
    });
  });
  test('are removed one by one, and a removal that fails is a fault', async () => {
    answer = (response) => response.writeHead(204).end();
    await media.remove(['inl_1', 'a/b']);
    expect(seen).toMatchObject([
      { method: 'DELETE', url: '/bytes/inl_1', headers: { authorization: 'Bearer the key' } },
      { method: 'DELETE', url: '/bytes/a%2Fb' },
    ]);

    answer = (response) => response.writeHead(500).end();
    await expect(media.remove(['inl_1'])).rejects.toMatchObject({ kind: 'unavailable' });
  });
  test('that break off are not stored', async () => {
    await expect(
      media.put(
        new Readable({
          read() {
            this.destroy(new Error('no base64'));
          },
        }),
        { accountId: 'demo', bytesMax: 9 },
      ),
    ).rejects.toMatchObject({ kind: 'unavailable' });
    expect(seen).toEqual([]);
  });
});

test('a service that does not answer is unavailable', async () => {
  const nowhere = httpMedia({ baseUrl: 'http://127.0.0.1:1', key: new Secret('k'), clock: systemClock });

  await expect(nowhere.put(Buffer.from('x'), { accountId: 'demo', bytesMax: 9 })).rejects.toMatchObject({
    kind: 'unavailable',
    reason: 'service_unavailable',
  });
  await nowhere.close();
});
