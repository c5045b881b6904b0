import { once } from 'node:events';
import { connect } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { Client, Metadata, compressionAlgorithms, credentials } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  MediaService as MediaContract,
  StageMediaRequestSchema,
  StageMediaResponseSchema,
} from '@reelgate/proto/media/v1/media_service';
import { inTime } from '../../../testing/bounded-waits.ts';
import { partialService } from '../../../testing/partial-service.ts';
import { CALLERS } from '../../../testing/rpc-transports.ts';
import { unruled } from '../../../testing/unruled.ts';
import { silentLog } from '../../log.ts';
import { identifyAmong } from '../callers.ts';
import { startConnectServer } from '../connect/server.ts';
import { startGrpcServer } from './server.ts';
import type { Keepalive } from './server.ts';
import { MESSAGE_BYTES_MAX } from '../service.ts';

const MediaService = unruled(MediaContract);
const PATH = '/reelgate.media.v1.MediaService/StageMedia';
const KEY = 'Bearer key-of-the-program';
const LISTEN = { host: '127.0.0.1', port: 0 };
const [OK, RESOURCE_EXHAUSTED] = [0, 8];
/** Go refuses to ping more often than every ten seconds; a thousand times as many are sent here. */
const PINGS = 300;
const PING_EVERY_MS = 10;

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The answer has an object of this many characters, or the length of what was asked. */
const binding = partialService(MediaService, {
  stageMedia: async ({ taskId, url }) => ({
    media: { object: taskId === '' ? String(url.length) : 'a'.repeat(Number(taskId)) },
  }),
});

async function openGrpc(keepalive?: Keepalive): Promise<number> {
  const identify = identifyAmong(CALLERS);
  const server = await startGrpcServer({ listen: LISTEN, bindings: [binding], identify, log: silentLog, keepalive });
  ends.push(() => server.stop());
  return server.port;
}

async function openHttp(): Promise<string> {
  const identify = identifyAmong(CALLERS);
  const server = await startConnectServer({
    listen: LISTEN,
    bindings: [binding],
    identify,
    log: silentLog,
    routes: [],
  });
  ends.push(() => server.stop());
  return `http://127.0.0.1:${server.port}${PATH}`;
}

interface Answered {
  readonly code: number;
  readonly object: string;
  readonly encoding: unknown;
}

/** A call of a third-party client, whose compression is gzip if it says so. */
function callWith(port: number, request: { url?: string; taskId?: string }, isGzip: boolean): Promise<Answered> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    ...(isGzip ? { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip } : {}),
  });
  ends.push(() => {
    client.close();
  });
  const metadata = new Metadata();
  metadata.set('authorization', KEY);
  return inTime(
    new Promise((resolve) => {
      client.makeUnaryRequest(
        PATH,
        (message: Buffer) => message,
        (bytes: Buffer) => fromBinary(StageMediaResponseSchema, bytes).media?.object ?? '',
        Buffer.from(toBinary(StageMediaRequestSchema, create(StageMediaRequestSchema, request))),
        metadata,
        (error: ServiceError | null, object = '') => {
          resolve({ code: error?.code ?? OK, object, encoding: undefined });
        },
      );
    }),
  );
}

/** The frames of a unary call over a session: the flag and the bytes of the answer on the wire, and its status. */
async function frames(port: number, body: Buffer, headers: Readonly<Record<string, string>> = {}) {
  const session = sessionTo(port);
  const stream = session.request({
    ':method': 'POST',
    ':path': PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: KEY,
    ...headers,
  });
  const answered = once(stream, 'response') as Promise<[Readonly<Record<string, unknown>>]>;
  const trailed = once(stream, 'trailers') as Promise<[Readonly<Record<string, unknown>>]>;
  trailed.catch(() => undefined);
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part)).on('error', () => undefined);
  stream.end(body);
  const [head] = await inTime(answered);
  await inTime(once(stream, 'close'));
  const bytes = Buffer.concat(parts);
  const status = head['grpc-status'] ?? (await trailed)[0]['grpc-status'];
  return { encoding: head['grpc-encoding'], flag: bytes[0], length: bytes.length, status: Number(status) };
}

function sessionTo(port: number): ClientHttp2Session {
  const session = connect(`http://127.0.0.1:${port}`);
  ends.push(() => {
    session.destroy();
  });
  return session;
}

/** A framed message, whose flag says whether it is compressed. */
function framed(content: Uint8Array, flag: 0 | 1): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flag, 0);
  prefix.writeUInt32BE(content.byteLength, 1);
  return Buffer.concat([prefix, content]);
}

const asking = (request: { url?: string; taskId?: string }): Uint8Array =>
  toBinary(StageMediaRequestSchema, create(StageMediaRequestSchema, request));

describe('compression over gRPC', () => {
  test('a request in gzip is read, and a long answer is compressed too', async () => {
    const port = await openGrpc();
    const url = 'reelgate'.repeat(10_000);

    expect(await callWith(port, { url }, true)).toMatchObject({ code: OK, object: String(url.length) });
    expect(await callWith(port, { taskId: '50000' }, true)).toMatchObject({ code: OK, object: 'a'.repeat(50_000) });
    const wire = await frames(port, framed(gzipSync(asking({ taskId: '50000' })), 1), { 'grpc-encoding': 'gzip' });
    expect(wire).toMatchObject({ encoding: 'gzip', flag: 1, status: OK });
    expect(wire.length).toBeLessThan(1000);
  });

  test('an answer that is too short to gain by it, or too long to hold others up, is not compressed', async () => {
    const port = await openGrpc();

    for (const taskId of ['100', '2000000']) {
      const wire = await frames(port, framed(gzipSync(asking({ taskId })), 1), { 'grpc-encoding': 'gzip' });
      expect(wire).toMatchObject({ flag: 0, status: OK });
      expect((await callWith(port, { taskId }, true)).object).toHaveLength(Number(taskId));
    }
  });

  test('an answer to a plain request is plain', async () => {
    const port = await openGrpc();

    expect(await frames(port, framed(asking({ taskId: '50000' }), 0))).toMatchObject({ encoding: 'identity', flag: 0 });
  });
});

describe('a message', () => {
  const LARGE = 'a'.repeat(MESSAGE_BYTES_MAX + 1);

  test.each([
    ['as it is', false],
    ['in gzip', true],
  ])('that is larger than allowed is refused over gRPC when it comes %s', async (_how, isGzip) => {
    const port = await openGrpc();

    expect(await callWith(port, { url: LARGE }, isGzip)).toMatchObject({ code: RESOURCE_EXHAUSTED });
  });

  test('of a few kilobytes that expands to gigabytes is refused over gRPC', async () => {
    const port = await openGrpc();
    // Two rounds of compression would do no more: a message is expanded once.
    const bomb = gzipSync(Buffer.alloc(512 * 1024 * 1024));

    const before = process.memoryUsage().rss;
    expect(await frames(port, framed(bomb, 1), { 'grpc-encoding': 'gzip' })).toMatchObject({
      status: RESOURCE_EXHAUSTED,
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024);
  });

  test('that would be larger than allowed is not sent over gRPC', async () => {
    const port = await openGrpc();

    expect(await callWith(port, { taskId: String(MESSAGE_BYTES_MAX + 1) }, false)).toMatchObject({
      code: RESOURCE_EXHAUSTED,
    });
  });

  // Within Jest an error of zlib is of another realm, and Connect takes it for an internal one.
  const REFUSED = /^(resource_exhausted|internal)$/;

  test.each<[string, string | Uint8Array<ArrayBuffer>, Record<string, string>, RegExp]>([
    ['as it is', JSON.stringify({ url: LARGE }), {}, /^resource_exhausted$/],
    ['in gzip', gzipSync(JSON.stringify({ url: LARGE })), { 'content-encoding': 'gzip' }, REFUSED],
    ['as an answer', JSON.stringify({ taskId: String(MESSAGE_BYTES_MAX + 1) }), {}, /^resource_exhausted$/],
  ])('that is larger than allowed is refused over Connect when it comes %s', async (_how, body, headers, code) => {
    const url = await openHttp();
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: KEY, ...headers },
      body,
    });

    expect(await answer.json()).toMatchObject({ code: expect.stringMatching(code) });
  });

  test('is compressed over Connect when the client accepts it', async () => {
    const url = await openHttp();
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: KEY, 'accept-encoding': 'gzip' },
      body: JSON.stringify({ taskId: '50000' }),
    });

    expect(answer.headers.get('content-encoding')).toBe('gzip');
    expect(await answer.json()).toMatchObject({ media: { object: 'a'.repeat(50_000) } });
  });
});

describe('a connection', () => {
  test.each([
    ['without a call', false],
    ['with an open stream', true],
  ])('%s may be pinged more often than any client does', async (_what, hasStream) => {
    const port = await openGrpc();
    const session = sessionTo(port);
    await inTime(once(session, 'connect'));
    let goaways = 0;
    session.on('goaway', () => (goaways += 1));
    if (hasStream) {
      const watch = session.request({
        ':method': 'POST',
        ':path': '/grpc.health.v1.Health/Watch',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      watch.end(Buffer.alloc(5));
      await inTime(once(watch, 'data'));
    }
    for (let sent = 0; sent < PINGS; sent += 1) {
      await inTime(
        new Promise<void>((resolve, reject) => {
          session.ping((error) => {
            if (error === null) resolve();
            else reject(error);
          });
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, PING_EVERY_MS));
    }

    expect([goaways, session.closed, session.destroyed]).toEqual([0, false, false]);
  });

  test('whose client has vanished is closed, so that its streams end', async () => {
    const port = await openGrpc({ everyMs: 50, answeredWithinMs: 50 });
    const socket = connectTcp(port, '127.0.0.1');
    ends.push(() => socket.destroy());
    // A client that says hello and then answers no ping.
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
    socket.resume();

    await inTime(once(socket, 'close'));
  });
});
