import { once } from 'node:events';
import http from 'node:http';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { isSigned } from '@reelgate/platform/signatures';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { partialService, silenceRpcLibraries } from '@reelgate/platform/testing/partial-service';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { TRANSPORTS, closingTransports, openConnect, openGrpc } from '@reelgate/platform/testing/rpc-transports';
import type { OpenTransport } from '@reelgate/platform/testing/rpc-transports';
import { until } from '@reelgate/platform/testing/until';
import type { Client } from '@reelgate/platform/rpc/service';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { ContentFacts, GetTaskContentResponse } from '@reelgate/proto/tasks/v1/task_service';
import { PUBLIC_URL, SIGNING_KEY, SUCCEEDED, contentWorld } from '../../testing/content/content-world.ts';
import { RESULT_EXPIRES_AT } from '../../testing/fake-media.ts';
import { useWorlds } from '../../testing/open-world.ts';
import { aContextIr } from '../../testing/orders.ts';
import { contentMethods } from './content-methods.ts';

const PIECE_BYTES_MAX = 64 * 1024;
/** Far more than the buffers of a connection. */
const LARGE = 20_000_000;
const HOUR_MS = 3_600_000;
const openWorld = useWorlds();
const openFor = closingTransports();

silenceRpcLibraries();

/** The whole stream, or what came before its refusal. */
async function received(messages: AsyncIterable<GetTaskContentResponse>) {
  let facts: ContentFacts | undefined;
  const pieces: Uint8Array[] = [];
  for await (const { part } of messages) {
    if (part.case === 'facts') facts = part.value;
    else if (part.case === 'data') pieces.push(part.value);
  }
  return { facts, pieces, bytes: Buffer.concat(pieces) };
}

async function serve(open: OpenTransport, bytes?: number) {
  const world = await openWorld();
  const content = contentWorld(world, bytes);
  const opened = await openFor(open, partialService(TaskService, contentMethods(content.deps)));
  const client: Client<typeof TaskService> = opened.client(TaskService);
  return { world, content, client, logged: opened.logged, port: opened.port };
}

/** Starts a stream and takes its first bytes. The result ends the stream. */
type Stall = (service: Awaited<ReturnType<typeof serve>>, taskId: string) => Promise<() => unknown>;

const stallClient: Stall = async ({ client }, taskId) => {
  const messages = client.getTaskContent({ accountId: 'acme', taskId })[Symbol.asyncIterator]();
  await messages.next();
  await messages.next();
  return () => messages.return?.();
};

/** The client of the library reads ahead, so this one is a bare socket. */
const stallSocket: Stall = async ({ port }, taskId) => {
  const message = Buffer.from(JSON.stringify({ accountId: 'acme', taskId }));
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.byteLength, 1);
  const request = http.request({
    port,
    method: 'POST',
    path: '/reelgate.tasks.v1.TaskService/GetTaskContent',
    headers: { 'content-type': 'application/connect+json', authorization: 'Bearer key-of-the-program' },
  });
  request.end(Buffer.concat([envelope, message]));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  return () => response.destroy();
};

test.each<[string, OpenTransport, Stall]>([
  ['gRPC', openGrpc, stallClient],
  ['Connect', openConnect, stallSocket],
])(
  'over %s GetTaskContent reads no further than its caller, and ends the read when the caller leaves',
  async (_name, open, stall) => {
    const service = await serve(open, LARGE);
    const { content, client } = service;
    const taskId = await content.task(SUCCEEDED);

    const leave = await stall(service, taskId);
    // by the time another caller has everything, an unbounded reader would have it too
    const whole = await received(client.getTaskContent({ accountId: 'acme', taskId }));

    expect(whole.bytes.equals(content.video)).toBe(true);
    expect(content.read() - LARGE).toBeGreaterThan(0);
    expect(content.read() - LARGE).toBeLessThan(LARGE / 2);
    await leave();
    await until(() => content.opened[0]!.stream.destroyed);
  },
);

describe.each(TRANSPORTS)('over %s', (_name, open) => {
  const aService = (bytes?: number) => serve(open, bytes);

  describe('GetTaskContent', () => {
    test('gives the facts first, and then every byte in pieces of at most 64 KiB', async () => {
      const { content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);

      const { facts, pieces, bytes } = await received(client.getTaskContent({ accountId: 'acme', taskId }));

      expect(facts).toMatchObject({
        mediaType: 'video/mp4',
        bytes: BigInt(content.video.byteLength),
        offset: 0n,
        length: BigInt(content.video.byteLength),
        sha256: content.sha256,
        fileName: `${taskId}.mp4`,
      });
      expect(bytes.equals(content.video)).toBe(true);
      expect(Math.max(...pieces.map(({ byteLength }) => byteLength))).toBeLessThanOrEqual(PIECE_BYTES_MAX);
      expect(content.opened).toEqual([expect.objectContaining({ object: `res-${taskId}` })]);
    });

    test.each([
      [0n, 1n, 0, 1],
      [1n, 0n, 1, 250_001],
      [70_000n, 100_000n, 70_000, 170_000],
      [250_000n, 0n, 250_000, 250_001],
      // the end of a part may be beyond the end of the video
      [200_000n, 9_000_000_000_000_000_000n, 200_000, 250_001],
      // a caller that has every byte learns that it has
      [250_001n, 0n, 250_001, 250_001],
    ])('from %i, %i bytes long, gives the bytes %i to %i', async (offset, length, from, to) => {
      const { content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);

      const { facts, bytes } = await received(client.getTaskContent({ accountId: 'acme', taskId, offset, length }));

      expect(facts).toMatchObject({ offset, length: BigInt(to - from), sha256: content.sha256 });
      expect(bytes.equals(content.video.subarray(from, to))).toBe(true);
    });

    test.each([
      [{ offset: 250_002n }, 'offset', 'must be from 0 to 250001, the bytes of the video; it is 250002'],
      [{ offset: -1n }, 'offset', expect.stringContaining('-1')],
      [{ length: -1n }, 'length', expect.stringContaining('-1')],
    ])('refuses %j by its field', async (span, field, message) => {
      const { content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);

      const refusal = await catchRefusal(received(client.getTaskContent({ accountId: 'acme', taskId, ...span })));

      expect(readFields(refusal)).toMatchObject({ kind: 'invalid', reason: 'invalid_request', field, message });
      expect(content.opened).toEqual([]);
    });

    test.each<[string, 'error' | 'end']>([
      ['fails', 'error'],
      ['ends too early', 'end'],
    ])('ends with UNAVAILABLE when the store %s, and goes on at the next byte', async (_what, how) => {
      const { content, client, logged } = await aService();
      const taskId = await content.task(SUCCEEDED);
      content.breakAfter(100_000, how);
      const first: Uint8Array[] = [];

      const refusal = await catchRefusal(
        (async () => {
          for await (const { part } of client.getTaskContent({ accountId: 'acme', taskId }))
            if (part.case === 'data') first.push(part.value);
        })(),
      );
      content.breakAfter(Infinity, 'end');
      const offset = BigInt(Buffer.concat(first).byteLength);
      const rest = await received(client.getTaskContent({ accountId: 'acme', taskId, offset }));

      expect(readFields(refusal)).toMatchObject({
        kind: 'unavailable',
        reason: 'service_unavailable',
        retryAfterMs: 1000,
      });
      expect(refusal.message).not.toContain('/data');
      expect(Number(offset)).toBe(100_000);
      expect(Buffer.concat([...first, rest.bytes]).equals(content.video)).toBe(true);
      expect(logged).toEqual([]);
    });

    test('refuses more streams of an account than it may have, until one ends', async () => {
      const { content, client } = await aService(LARGE);
      const taskId = await content.task(SUCCEEDED);
      const start = async () => {
        const messages = client.getTaskContent({ accountId: 'acme', taskId })[Symbol.asyncIterator]();
        await messages.next();
        return messages;
      };
      const [first] = [await start(), await start()];

      const refusal = await catchRefusal(start());
      await first.return?.();

      expect(readFields(refusal)).toMatchObject({ kind: 'exhausted', reason: 'too_many_streams', retryAfterMs: 1000 });
      await until(() => content.opened[0]!.stream.destroyed);
      await inTime(start());
    });
  });

  const LINK = (client: Client<typeof TaskService>, taskId: string, accountId = 'acme') =>
    client.createContentLink({ accountId, taskId });
  const BYTES = (client: Client<typeof TaskService>, taskId: string, accountId = 'acme') =>
    received(client.getTaskContent({ accountId, taskId }));

  describe.each([
    ['GetTaskContent', BYTES],
    ['CreateContentLink', LINK],
  ])('%s refuses', (_method, call) => {
    test('a task that is not finished, and says when to read it again', async () => {
      const { content, client } = await aService();

      expect(readFields(await catchRefusal(call(client, await content.task())))).toMatchObject({
        kind: 'conflict',
        reason: 'task_not_completed',
        message: 'the task is queued; it has bytes only once it is completed',
        retryAfterMs: expect.any(Number),
      });
    });

    test('a task that failed', async () => {
      const { content, client } = await aService();
      const taskId = await content.task({
        phase: 'failed',
        status: 'failed',
        failure: { code: '1', message: 'no' },
      });

      expect(readFields(await catchRefusal(call(client, taskId)))).toMatchObject({
        kind: 'conflict',
        reason: 'task_not_completed',
        message: 'the task is failed and has no result',
      });
    });

    test('a result that has expired', async () => {
      const { world, content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);
      await world.clock.advance(RESULT_EXPIRES_AT - world.clock.now());

      expect(readFields(await catchRefusal(call(client, taskId)))).toMatchObject({
        kind: 'gone',
        reason: 'result_expired',
      });
    });

    test('a task whose result is a prompt, by its field', async () => {
      const { content, client } = await aService();
      const taskId = await content.task({ phase: 'succeeded', status: 'succeeded', prompt: 'better' }, aContextIr());

      expect(readFields(await catchRefusal(call(client, taskId)))).toMatchObject({ kind: 'invalid', field: 'task_id' });
    });

    test('a task of another account like one that does not exist', async () => {
      const { content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);

      const foreign = readFields(await catchRefusal(call(client, taskId, 'rival')));

      expect(foreign).toEqual(readFields(await catchRefusal(call(client, 'task_none', 'rival'))));
      expect(foreign).toMatchObject({ kind: 'not_found', reason: 'task_not_found' });
    });
  });

  test('GetTaskContent says that bytes which are no longer stored have expired', async () => {
    const { content, client } = await aService();
    const taskId = await content.task(SUCCEEDED);
    content.lose();

    expect(readFields(await catchRefusal(BYTES(client, taskId)))).toMatchObject({ reason: 'result_expired' });
  });

  describe('CreateContentLink', () => {
    test.each([
      [undefined, HOUR_MS],
      [{ seconds: 1n, nanos: 0 }, 1000],
      [{ seconds: 90n, nanos: 500_000_000 }, 90_000],
      [{ seconds: 86_400n, nanos: 0 }, 24 * HOUR_MS],
    ])('with the lifetime %j is valid for %i ms', async (lifetime, validMs) => {
      const { world, content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);

      const { url, expiresAt } = await client.createContentLink({
        accountId: 'acme',
        taskId,
        ...(lifetime === undefined ? {} : { lifetime }),
      });

      const { origin, pathname, searchParams } = new URL(url);
      expect([origin, pathname]).toEqual([PUBLIC_URL, `/ximg/res-${taskId}.mp4`]);
      const end = Number(searchParams.get('exp'));
      expect(isSigned([SIGNING_KEY], pathname, end, searchParams.get('sig') ?? '')).toBe(true);
      expect([timestampMs(expiresAt!), end * 1000]).toEqual([world.clock.now() + validMs, world.clock.now() + validMs]);
    });

    test('ends with the video', async () => {
      const { world, content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);
      await world.clock.advance(RESULT_EXPIRES_AT - world.clock.now() - 60_000);

      expect(timestampMs((await LINK(client, taskId)).expiresAt!)).toBe(RESULT_EXPIRES_AT);
    });

    test.each([
      { seconds: 0n, nanos: 999_000_000 },
      { seconds: 0n, nanos: 0 },
      { seconds: -5n, nanos: 0 },
      { seconds: 86_401n, nanos: 0 },
      { seconds: 315_576_000_000n, nanos: 0 },
    ])('refuses the lifetime %j by its field', async (lifetime) => {
      const { content, client } = await aService();
      const taskId = await content.task(SUCCEEDED);

      const refusal = await catchRefusal(client.createContentLink({ accountId: 'acme', taskId, lifetime }));

      expect(readFields(refusal)).toMatchObject({
        kind: 'invalid',
        field: 'lifetime',
        message: expect.stringMatching(/^must be from 1 s to 86400 s; it is /),
      });
    });
  });
});
