import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { startReplicatedOrigin } from '../../../../test/harness/replicated-origin.ts';
import { httpMediaBytes, collect } from './media-bytes.ts';
import type { MediaBytes } from './media-bytes.ts';

const BYTES_MAX = 128 * 1024 * 1024;
const PIECE = Buffer.alloc(1024 * 1024, 7);
const asked: { readonly url: string | undefined; readonly authorization: string | undefined }[] = [];
let server: Server;
let url = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push({ url: request.url, authorization: request.headers.authorization });
    if (request.url?.endsWith('missing') === true) response.writeHead(404).end('no such object');
    else response.end(PIECE);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('the bytes of a staged media item', () => {
  const bytes = () => httpMediaBytes(url, new Secret('services-key'));
  const { signal } = new AbortController();

  test('are read with the key of the services, under a name that cannot point elsewhere', async () => {
    const read = await bytes().read('../obj?x', signal);

    expect(digest(read)).toBe(digest(PIECE));
    expect(asked.at(-1)).toEqual({ url: '/bytes/..%2Fobj%3Fx', authorization: 'Bearer services-key' });
  });

  test('that are missing are a fault', async () => {
    await expect(bytes().read('missing', signal)).rejects.toThrow('404');
  });

  test('are read only while the caller waits', async () => {
    await expect(bytes().read('obj_1', AbortSignal.abort())).rejects.toThrow(/abort/);
  });
});

test('bytes come from whichever replica of media is there', async () => {
  const origin = await startReplicatedOrigin((_request, response) => response.end(PIECE));
  for (const host of ['127.0.0.2', '127.0.0.3']) await origin.start(host);
  origin.name('127.0.0.2', '127.0.0.3');
  const bytes = httpMediaBytes(origin.url, new Secret('key'), undefined, origin.lookup);
  const read = async (): Promise<Readonly<Record<string, number>>> => {
    for (let times = 0; times < 4; times += 1) await bytes.read('obj_1', new AbortController().signal);
    return origin.answered();
  };

  expect(await read()).toEqual({ '127.0.0.2': 2, '127.0.0.3': 2 });
  await origin.stopReplica('127.0.0.2');
  expect(await read()).toEqual({ '127.0.0.3': 4 });
  await origin.stop();
});

describe('a part of a result', () => {
  const { signal } = new AbortController();
  const VIDEO = Buffer.from('0123456789');
  const SHA256 = digest(VIDEO);
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let bucket: Server;
  let bytes: MediaBytes;
  let requests: IncomingMessage[];

  beforeEach(async () => {
    requests = [];
    answer = (_request, response) => response.writeHead(206, { etag: `"${SHA256}"` }).end(VIDEO.subarray(2, 6));
    bucket = createServer((request, response) => {
      requests.push(request);
      answer(request, response);
    }).listen(0, '127.0.0.1');
    await once(bucket, 'listening');
    bytes = httpMediaBytes(`http://127.0.0.1:${(bucket.address() as AddressInfo).port}`, new Secret('key'));
  });
  afterEach(async () => {
    bucket.closeAllConnections();
    bucket.close();
    await once(bucket, 'close');
  });

  test('is a range of the bytes that media itself sends, with the digest of the whole', async () => {
    const opened = await bytes.open('res_1', { offset: 2, length: 4 }, signal);

    expect(await opened!.stream.toArray()).toEqual([VIDEO.subarray(2, 6)]);
    expect(opened!.sha256).toBe(SHA256);
    expect(requests[0]).toMatchObject({
      method: 'GET',
      url: '/bytes/res_1?redirect=no',
      headers: { range: 'bytes=2-5', authorization: 'Bearer key', 'accept-encoding': 'identity' },
    });
  });

  test('without bytes is the head alone', async () => {
    answer = (_request, response) => response.writeHead(200, { etag: `"${SHA256}"` }).end();
    const opened = await bytes.open('res_1', { offset: 10, length: 0 }, signal);

    expect([await opened!.stream.toArray(), opened!.sha256]).toEqual([[], SHA256]);
    expect(requests[0]!.method).toBe('HEAD');
  });

  test.each([404, 410])('of an object that is gone, by the status %i, is not there', async (status) => {
    answer = (_request, response) => response.writeHead(status).end('gone');

    expect(await bytes.open('res_1', { offset: 0, length: 4 }, signal)).toBeUndefined();
  });

  test.each([302, 401, 416, 500, 503])('that media answers with %i is unavailable', async (status) => {
    answer = (_request, response) => response.writeHead(status, { location: 'http://bucket.example' }).end('no');

    await expect(bytes.open('res_1', { offset: 0, length: 4 }, signal)).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'service_unavailable',
      retryAfterMs: 1000,
    });
  });

  test('is unavailable while nothing answers', async () => {
    answer = (request) => request.socket.resetAndDestroy();

    await expect(bytes.open('res_1', { offset: 0, length: 4 }, signal)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('fails if the connection ends within it', async () => {
    answer = (_request, response) => {
      response.writeHead(206, { 'content-length': '4' }).write('23', () => response.destroy());
    };
    const opened = await bytes.open('res_1', { offset: 2, length: 4 }, signal);

    await expect(opened!.stream.toArray()).rejects.toThrow();
  });
});

test('more bytes than a staged media item can have are not collected', async () => {
  let given = 0;
  const endless = async function* (): AsyncGenerator<Buffer> {
    for (;;) {
      given += PIECE.length;
      yield PIECE;
    }
  };

  await expect(collect(endless())).rejects.toThrow('more than 134217728 bytes');

  expect(given).toBeLessThanOrEqual(BYTES_MAX + 2 * PIECE.length);
});

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
