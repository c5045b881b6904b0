import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Secret } from '@reelgate/platform/secret';
import { collect, httpMediaBytes } from './media-bytes.ts';

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
