import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer as createSecureServer } from 'node:https';
import { TLSSocket } from 'node:tls';
import type { SecureContextOptions } from 'node:tls';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { newAuthority } from '@reelgate/platform/testing/certificates';
import { newBytesClient } from './bytes-client.ts';
import type { BytesAnswer } from './bytes-client.ts';

const LARGE = Buffer.alloc(3_000_001, 'reelgate');
const servers: Server[] = [];

const SCHEMES = ['http', 'https'] as const;
type Scheme = (typeof SCHEMES)[number];

const authority = newAuthority();
const stranger = newAuthority('another authority');
const own = authority.issue();
afterAll(() => {
  authority.end();
  stranger.end();
});

interface Asking {
  readonly method?: 'GET' | 'HEAD';
  readonly timeoutMs?: number;
  /** What the client shows and trusts. */
  readonly secureContext?: SecureContextOptions;
}

async function askOver(scheme: Scheme, listener: RequestListener, over: Asking = {}): Promise<BytesAnswer> {
  const server = serverOf(scheme, listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { method = 'GET', timeoutMs = 5000, secureContext = { ca: authority.certificate } } = over;
  return newBytesClient({ secureContext: () => secureContext }).request({
    url: new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/a?b`),
    method,
    headers: { 'x-asked': 'yes' },
    headTimeoutMs: timeoutMs,
    idleTimeoutMs: timeoutMs,
  });
}

function serverOf(scheme: Scheme, listener: RequestListener): Server {
  if (scheme === 'http') return createServer(listener);
  const { certificate: cert, key } = own;
  return createSecureServer(
    { cert, key, ca: authority.certificate, requestCert: true, rejectUnauthorized: false },
    listener,
  );
}

async function bytesOf({ pieces }: BytesAnswer): Promise<Buffer> {
  const parts: Buffer[] = [];
  // a piece is valid only until the next one
  for await (const piece of pieces) parts.push(Buffer.from(piece));
  return Buffer.concat(parts);
}

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

describe.each(SCHEMES)('over %s', (scheme) => {
  const ask = (listener: RequestListener, over?: Asking): Promise<BytesAnswer> => askOver(scheme, listener, over);

  test('a long body arrives as it was sent, in pieces of one buffer', async () => {
    const answer = await ask((request, response) => {
      expect([request.url, request.headers['x-asked']]).toEqual(['/a?b', 'yes']);
      response.writeHead(200, { 'content-length': LARGE.length, 'content-type': 'video/mp4' }).end(LARGE);
    });

    expect([answer.head.statusCode, answer.head.headers['content-type']]).toEqual([200, 'video/mp4']);
    expect((await bytesOf(answer)).equals(LARGE)).toBe(true);
  });

  test.each<[string, number, (text: string) => RequestListener]>([
    [
      'a short body that arrives with its head',
      200,
      (text) => (_request, response) => {
        response.writeHead(200, { 'content-length': text.length }).end(text);
      },
    ],
    [
      'a body that trickles',
      206,
      (text) => (_request, response) => {
        response.writeHead(206, { 'content-length': text.length });
        [...text].forEach((letter, index) => setTimeout(() => response.write(letter), index * 5));
      },
    ],
    [
      'a body without a declared length',
      200,
      (text) => (_request, response) => {
        response.writeHead(200).end(text);
      },
    ],
    [
      'the body of a refusal',
      404,
      (text) => (_request, response) => {
        response.writeHead(404, { 'content-length': text.length }).end(text);
      },
    ],
  ])('%s arrives whole', async (_what, status, listener) => {
    const answer = await ask(listener('abcdefgh'));

    expect([answer.head.statusCode, (await bytesOf(answer)).toString()]).toEqual([status, 'abcdefgh']);
  });

  test.each<[string, 'GET' | 'HEAD', RequestListener]>([
    [
      'HEAD',
      'HEAD',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 99 }).end();
      },
    ],
    [
      '304',
      'GET',
      (_request, response) => {
        response.writeHead(304, { etag: '"x"' }).end();
      },
    ],
    [
      'an empty body',
      'GET',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 0 }).end();
      },
    ],
  ])('%s has no body', async (_what, method, listener) => {
    expect((await bytesOf(await ask(listener, { method }))).length).toBe(0);
  });

  test('a body that breaks off is a fault', async () => {
    const answer = await ask((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('half', () => response.socket?.destroy());
    });

    await expect(bytesOf(answer)).rejects.toThrow();
  });

  test.each<[string, RequestListener]>([
    ['a head', () => undefined],
    [
      'a piece',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('half');
      },
    ],
  ])('%s that does not arrive in time is a fault', async (_what, listener) => {
    await expect(ask(listener, { timeoutMs: 100 }).then(bytesOf)).rejects.toThrow('in time');
  });

  test('a slow reader meets no time-out', async () => {
    const answer = await ask(
      (_request, response) => {
        response.writeHead(200, { 'content-length': LARGE.length }).end(LARGE);
      },
      { timeoutMs: 60 },
    );
    let bytes = 0;
    for await (const piece of answer.pieces) {
      if (bytes === 0) await new Promise((resolve) => setTimeout(resolve, 200));
      bytes += piece.byteLength;
    }

    expect(bytes).toBe(LARGE.length);
  });
});

describe('over TLS', () => {
  const showsCertificate: RequestListener = ({ socket }, response) => {
    const isShown = socket instanceof TLSSocket && socket.authorized;
    response.writeHead(200, { 'content-length': 1 }).end(isShown ? 'y' : 'n');
  };

  test('a server whose certificate another authority has signed is refused', async () => {
    const secureContext = { ca: stranger.certificate };

    await expect(askOver('https', showsCertificate, { secureContext })).rejects.toThrow(/certificate|issuer/);
  });

  test.each<[string, SecureContextOptions]>([
    ['y', { cert: own.certificate, key: own.key }],
    ['n', {}],
  ])('the client shows the certificate that it has: %s', async (shown, pair) => {
    const secureContext = { ...pair, ca: authority.certificate };

    expect((await bytesOf(await askOver('https', showsCertificate, { secureContext }))).toString()).toBe(shown);
  });
});

test('an answer that is not HTTP, or a closed port, is a fault', async () => {
  const server = createTcpServer((socket) =>
    socket
      .resume()
      .on('error', () => undefined)
      .end('hello\r\n\r\n'),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const at = (): Promise<BytesAnswer> =>
    newBytesClient().request({
      url: new URL(`http://127.0.0.1:${port}/`),
      method: 'GET',
      headers: {},
      headTimeoutMs: 1000,
      idleTimeoutMs: 1000,
    });

  await expect(at()).rejects.toThrow();
  server.close();
  await once(server, 'close');
  await expect(at()).rejects.toThrow();
});
