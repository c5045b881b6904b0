import { Client, credentials, status } from '@grpc/grpc-js';
import type { ClientReadableStream } from '@grpc/grpc-js';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { unruled } from '../../../testing/unruled.ts';
import { inTime } from '../../../testing/bounded-waits.ts';
import { partialService } from '../../../testing/partial-service.ts';
import { CALLERS } from '../../../testing/rpc-transports.ts';
import { silentLog } from '../../log.ts';
import { identifyAmong } from '../callers.ts';
import { startGrpcServer } from './server.ts';

const MediaService = unruled(MediaContract);

const [SERVING, NOT_SERVING, SERVICE_UNKNOWN] = [1, 2, 3];
const MEDIA = 'reelgate.media.v1.MediaService';
/** How long a stop waits for running calls. */

const media = partialService(MediaService);

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function open(isReady: () => Promise<boolean>) {
  const stopping = new AbortController();
  const server = await startGrpcServer({
    listen: { host: '127.0.0.1', port: 0 },
    bindings: [media],
    identify: identifyAmong(CALLERS),
    log: silentLog,
    readiness: { isReady, stopping: stopping.signal },
  });
  ends.push(() => server.stop());
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  ends.push(() => {
    client.close();
  });
  return { stopping, server, client };
}

/** Sends the request of a probe: field 1 of the request is the service, field 1 of the answer its state. */
const requestFor = (service: string): Buffer =>
  Buffer.concat([Buffer.from([0x0a, service.length]), Buffer.from(service)]);
const asIs = (bytes: Buffer): Buffer => bytes;
const stateIn = (bytes: Buffer): number => bytes.readUInt8(1);

const check = (client: Client, service: string): Promise<number | undefined> =>
  inTime(
    new Promise((resolve, reject) => {
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', asIs, stateIn, requestFor(service), (error, state) => {
        if (error === null) resolve(state);
        else reject(error);
      });
    }),
  );

function watch(
  client: Client,
  service: string,
): { readonly stream: ClientReadableStream<number>; next(): Promise<number>; readonly ended: Promise<number> } {
  const stream = client.makeServerStreamRequest('/grpc.health.v1.Health/Watch', asIs, stateIn, requestFor(service));
  const states = stream[Symbol.asyncIterator]() as AsyncIterator<number>;
  const ended = new Promise<number>((resolve) =>
    stream.on('status', ({ code }) => {
      resolve(code);
    }),
  );
  stream.on('error', () => undefined);
  return { stream, ended, next: async () => (await inTime(states.next())).value as number };
}

describe('the health of a server', () => {
  test.each(['', MEDIA])('of %p is serving, without a key', async (service) => {
    const { client } = await open(async () => true);

    expect(await check(client, service)).toBe(SERVING);
  });

  test('of an unknown service is not found, and a watcher sees it as unknown', async () => {
    const { client } = await open(async () => true);

    await expect(check(client, 'reelgate.none.v1.None')).rejects.toMatchObject({ code: status.NOT_FOUND });
    expect(await watch(client, 'reelgate.none.v1.None').next()).toBe(SERVICE_UNKNOWN);
  });

  test.each([
    ['returns false', async () => false],
    [
      'fails',
      async () => {
        throw new Error('no database');
      },
    ],
  ])('is not serving from the first moment when the check %s', async (_what, isReady) => {
    const { client } = await open(isReady);

    expect([await check(client, ''), await check(client, MEDIA)]).toEqual([NOT_SERVING, NOT_SERVING]);
  });

  test('follows the check, and reports each change once to a watcher', async () => {
    let isReady = false;
    const { client } = await open(async () => isReady);
    const [server, service] = [watch(client, ''), watch(client, MEDIA)];
    expect([await server.next(), await service.next()]).toEqual([NOT_SERVING, NOT_SERVING]);

    isReady = true;
    expect([await server.next(), await service.next()]).toEqual([SERVING, SERVING]);
    expect(await check(client, MEDIA)).toBe(SERVING);

    isReady = false;
    expect([await server.next(), await service.next()]).toEqual([NOT_SERVING, NOT_SERVING]);
  });

  test('is not serving once the program stops, while the server still answers calls', async () => {
    const { client, stopping } = await open(async () => true);
    const watched = watch(client, MEDIA);
    expect(await watched.next()).toBe(SERVING);

    stopping.abort();

    expect(await watched.next()).toBe(NOT_SERVING);
    expect([await check(client, ''), await check(client, MEDIA)]).toEqual([NOT_SERVING, NOT_SERVING]);
  });

  test('does not delay a stop while it has watchers', async () => {
    const { client, server } = await open(async () => true);
    const watched = watch(client, '');
    expect(await watched.next()).toBe(SERVING);
    // the grace of the stop never ends
    jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(new AbortController().signal);

    const stopped = server.stop();

    expect(await watched.next()).toBe(NOT_SERVING);
    expect(await inTime(watched.ended)).toBe(status.OK);
    await inTime(stopped);
    jest.restoreAllMocks();
  });

  test('has a bounded number of watchers, and admits another when one leaves', async () => {
    const { client } = await open(async () => true);
    const watches = Array.from({ length: 256 }, () => watch(client, ''));
    await Promise.all(watches.map((one) => one.next()));

    const refused = watch(client, '');
    expect(await inTime(refused.ended)).toBe(status.RESOURCE_EXHAUSTED);

    watches[0]!.stream.cancel();
    await inTime(watches[0]!.ended);
    const taken = async (): Promise<number> => watch(client, '').next().catch(taken);
    expect(await inTime(taken())).toBe(SERVING);
  });
});
