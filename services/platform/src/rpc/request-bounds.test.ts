import { EventEmitter } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { aCaller } from '../../testing/a-caller.ts';
import { inTime } from '../../testing/bounded-waits.ts';
import { partialService } from '../../testing/partial-service.ts';
import { closingTransports, openConnect, openGrpc } from '../../testing/rpc-transports.ts';
import { unruled } from '../../testing/unruled.ts';
import { newBodyBounds } from './connect/bodies.ts';
import { MESSAGE_BYTES_MAX } from './service.ts';

const MediaService = unruled(MediaContract);
const PATH = '/reelgate.media.v1.MediaService/RemoveResult';
const UNAUTHENTICATED = '16';
const media = partialService(MediaService, { removeResult: async () => ({ removed: true }) });

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});
// after the connections, for which a server would wait
const openFor = closingTransports();

describe('a caller without a key is refused before a byte of its request is read', () => {
  test.each(['application/json', 'application/proto'])('over Connect, as %s', async (type) => {
    const { port } = await openFor(openConnect, media);
    const headers = { 'content-type': type, 'content-length': String(MESSAGE_BYTES_MAX) };
    const request = http.request({ host: '127.0.0.1', port, path: PATH, method: 'POST', headers });
    request.on('error', () => undefined).flushHeaders();
    ends.push(() => request.destroy());

    const answer = await inTime(
      new Promise<http.IncomingMessage>((resolve) => {
        request.once('response', resolve);
      }),
    );

    expect(answer.statusCode).toBe(401);
  });

  test('over gRPC', async () => {
    const { port } = await openFor(openGrpc, media);
    const session = http2.connect(`http://127.0.0.1:${port}`);
    ends.push(() => session.destroy());
    const stream = session.request({ ':method': 'POST', ':path': PATH, 'content-type': 'application/grpc' });
    stream.on('error', () => undefined);

    const status = await inTime(
      new Promise<unknown>((resolve) => {
        stream.once('response', (headers) => {
          resolve(headers['grpc-status']);
        });
      }),
    );

    expect(status).toBe(UNAUTHENTICATED);
  });
});

describe('the bytes of requests that are held at once', () => {
  const KIB = 1024;
  const bound = newBodyBounds({ portBytesMax: 16 * KIB, callerBytesMax: 8 * KIB });

  /** Reads the body of a caller. `close` ends its answer. */
  const reading = (name: string, chunks: readonly number[]) => {
    const body = {
      async *[Symbol.asyncIterator]() {
        for (const bytes of chunks) yield Buffer.alloc(bytes);
      },
    };
    const response = new EventEmitter();
    bound(body as never, response as never, () => aCaller({ name }));
    const read = async (): Promise<number> => {
      let bytes = 0;
      for await (const chunk of body) bytes += chunk.byteLength;
      return bytes;
    };
    return { read, close: () => response.emit('close') };
  };

  test('have a bound by caller and one in all, and are given back when the answers are over', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((name) => reading(name, [4 * KIB, 4 * KIB]));
    expect(await one!.read()).toBe(8 * KIB);
    await expect(reading('one', [1]).read()).rejects.toMatchObject({ rawMessage: expect.stringMatching(/too many/) });
    expect(await two!.read()).toBe(8 * KIB);
    await expect(three!.read()).rejects.toMatchObject({ rawMessage: expect.stringMatching(/too many/) });

    one!.close();

    expect(await reading('three', [8 * KIB]).read()).toBe(8 * KIB);
  });
});
