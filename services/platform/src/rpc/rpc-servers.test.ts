import { describe, expect, test } from '@jest/globals';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { unruled } from '../../testing/unruled.ts';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { partialService, silenceRpcLibraries } from '../../testing/partial-service.ts';
import { readFields, catchRefusal } from '../../testing/refusals.ts';
import { withRules } from '../../testing/with-rules.ts';
import { CALLERS, closingTransports, openConnect, openGrpc } from '../../testing/rpc-transports.ts';
import type { OpenTransport } from '../../testing/rpc-transports.ts';
import { silentLog } from '../log.ts';
import { Problem } from '../problem.ts';
import { Secret } from '../secret.ts';
import { identifyAmong } from './callers.ts';
import { startConnectServer } from './connect/server.ts';
import { connectGrpc } from './grpc/client.ts';
import type { GrpcConnection } from './grpc/client.ts';
import { startGrpcServer } from './grpc/server.ts';
import type { Implementation } from './service.ts';

const MediaService = unruled(MediaContract);

const openFor = closingTransports();
silenceRpcLibraries();

/** A media service with one method from the test, and a client of it. */
async function opened(
  open: OpenTransport,
  stageMedia: Implementation<typeof MediaService>['stageMedia'],
  service = MediaService,
) {
  const transport = await openFor(open, partialService(service, { stageMedia }));
  return { ...transport, media: transport.client(MediaService) };
}

describe.each([
  ['gRPC', openGrpc, startGrpcServer],
  ['Connect with JSON', openConnect, startConnectServer],
] as const)('the server of %s', (_name, open, start) => {
  test.each(['', 'wrong', 'key-of-the-progra', 'key-of-the-program2'])(
    'rejects the key %p, and does not call the method',
    async (key) => {
      let calls = 0;
      const { client } = await opened(open, async () => {
        calls += 1;
        return {};
      });

      const refusal = await catchRefusal(client(MediaService, key).stageMedia({ accountId: 'demo' }));

      expect(refusal).toMatchObject({ kind: 'unauthenticated', reason: 'invalid_caller_key' });
      expect(calls).toBe(0);
    },
  );

  test('warns of wrong keys with their address, once', async () => {
    const { client, warned } = await opened(open, async () => ({}));

    for (const key of ['wrong', 'also wrong']) await catchRefusal(client(MediaService, key).stageMedia({}));

    expect(warned).toEqual([{ door: 'callers', address: '127.0.0.1', wrongKeys: 1 }]);
  });
  test('lets a caller with accounts name one of them, and no other', async () => {
    const { client } = await opened(open, async ({ accountId }, { caller }) => ({
      media: { object: `${caller.name} for ${accountId}` },
    }));
    const media = client(MediaService, 'key-of-reporting');
    const forbidden = { kind: 'forbidden', reason: 'account_not_allowed', field: 'account_id' };

    expect((await media.stageMedia({ accountId: 'demo' })).media?.object).toBe('reporting for demo');
    expect((await media.stageMedia({ accountId: 'lab' })).media?.object).toBe('reporting for lab');
    expect(await catchRefusal(media.stageMedia({ accountId: 'other' }))).toMatchObject(forbidden);
    expect(await catchRefusal(media.stageMedia({ accountId: '' }))).toMatchObject({
      kind: 'invalid',
      field: 'account_id',
    });
    // concerns every account
    expect(await catchRefusal(media.removeResult({ taskId: 'task_1' }))).toMatchObject({
      kind: 'forbidden',
      reason: 'account_not_allowed',
      field: undefined,
    });
  });

  test('refuses a caller without the scope of the RPC, and names the scope', async () => {
    let calls = 0;
    const { client } = await opened(open, async () => {
      calls += 1;
      return {};
    });

    const refusal = await catchRefusal(client(MediaService, 'key-of-the-reader').stageMedia({ accountId: 'demo' }));

    expect(refusal).toMatchObject({ kind: 'forbidden', reason: 'scope_missing' });
    expect(refusal.message).toContain(
      'reelgate.media.v1.MediaService/StageMedia needs the scope media.internal; the caller reader has tasks.read',
    );
    expect(calls).toBe(0);
  });

  test('does not start with an RPC that has no access rule', async () => {
    const service = withRules(MediaService, ({ name }, rule) => (name === 'LinkObject' ? undefined : rule));

    await expect((async () => opened(open, async () => ({}), service))()).rejects.toThrow(
      'reelgate.media.v1.MediaService/LinkObject has no access rule',
    );
  });

  test('logs a thrown error once', async () => {
    const { media, logged } = await opened(open, async () => {
      throw new TypeError('undefined is not a function');
    });

    await catchRefusal(media.stageMedia({}));

    expect(logged).toMatchObject([{ method: 'StageMedia', err: { message: 'undefined is not a function' } }]);
  });

  test.each([
    ['half a character', 'bad \ud800 end', 'bad \ufffd end'],
    ['more characters than fit', 'x'.repeat(100_000), `${'x'.repeat(2000)}…`],
  ])('sends a refusal with a repaired text when the text has %s', async (_what, message, arrived) => {
    const { media } = await opened(open, async () => {
      throw new Problem({ kind: 'invalid', reason: 'a_reason', message, field: message, retryAfterMs: 0.5 });
    });

    expect(readFields(await catchRefusal(media.stageMedia({})))).toEqual({
      kind: 'invalid',
      reason: 'a_reason',
      message: arrived,
      field: arrived,
      retryAfterMs: 1,
    });
  });

  test('finishes the running calls when it stops, and then accepts none', async () => {
    const [begun, gate] = [aGate(), aGate()];
    const server = await opened(open, async () => {
      begun.open();
      await gate.opened;
      return { media: { object: 'done' } };
    });
    const call = server.media.stageMedia({});
    await inTime(begun.opened);

    const stopping = server.stopServer();
    gate.open();

    expect((await inTime(call)).media?.object).toBe('done');
    await inTime(stopping);
    expect(await catchRefusal(server.media.stageMedia({}, { timeoutMs: 2000 }))).toMatchObject({
      kind: 'unavailable',
      reason: 'service_unavailable',
    });
  });

  test('cannot start on a port in use', async () => {
    const { port } = await opened(open, async () => ({}));

    await expect(
      start({
        listen: { host: '127.0.0.1', port },
        bindings: [],
        identify: identifyAmong(CALLERS),
        log: silentLog,
        routes: [],
      }),
    ).rejects.toThrow();
  });
});

test('gRPC refuses a message that is too large, and continues', async () => {
  const { media } = await opened(openGrpc, async () => ({}));

  expect(await catchRefusal(media.stageMedia({ url: 'x'.repeat(9 * 1024 * 1024) }))).toMatchObject({
    kind: 'unavailable',
  });

  await media.stageMedia({});
});

describe('a connection to gRPC', () => {
  const nowhere = (): GrpcConnection => connectGrpc('127.0.0.1:1', new Secret('key'));

  test('without a listener refuses with a Problem', async () => {
    const connection = nowhere();

    expect(await catchRefusal(connection.client(MediaService).stageMedia({}, { timeoutMs: 5000 }))).toMatchObject({
      kind: 'unavailable',
      reason: 'service_unavailable',
    });

    connection.close();
  });

  test('without a listener is never ready', async () => {
    const connection = nowhere();

    await expect(inTime(connection.ready(200))).rejects.toThrow(/deadline/);

    connection.close();
  });

  test('is ready once a server answers, and carries several services', async () => {
    const { port } = await opened(openGrpc, async () => ({ media: { object: 'here' } }));
    const connection = connectGrpc(`127.0.0.1:${port}`, CALLERS[0]!.key!);

    await inTime(connection.ready(5000));

    expect((await connection.client(MediaService).stageMedia({})).media?.object).toBe('here');
    expect(await catchRefusal(connection.client(AccountService).listPrices({}))).toMatchObject({
      reason: 'service_unavailable',
    });
    connection.close();
  });
});
