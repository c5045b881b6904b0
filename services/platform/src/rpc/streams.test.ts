import { once } from 'node:events';
import http from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { until } from '../../testing/until.ts';
import { silenceRpcLibraries } from '../../testing/partial-service.ts';
import { readFields, catchRefusal } from '../../testing/refusals.ts';
import { TRANSPORTS, closingTransports, openConnect, openGrpc } from '../../testing/rpc-transports.ts';
import type { OpenTransport, Opened } from '../../testing/rpc-transports.ts';
import { StreamService } from '../../testing/stream-service.ts';
import { Problem } from '../problem.ts';
import { bind } from './service.ts';
import type { Implementation } from './service.ts';
import { newRunningStreams } from './streams.ts';

type Methods = Implementation<typeof StreamService>;

const openFor = closingTransports();

silenceRpcLibraries();

const notCalled = (): never => {
  throw new Error('not called in this test');
};

const opened = (open: OpenTransport, methods: Partial<Methods>): Promise<Opened> =>
  openFor(open, bind(StreamService, { spell: notCalled, join: notCalled, ...methods }));

async function all(messages: AsyncIterable<{ readonly value: string }>): Promise<readonly string[]> {
  const values: string[] = [];
  for await (const { value } of messages) values.push(value);
  return values;
}

async function* texts(...values: readonly string[]): AsyncGenerator<{ value: string }> {
  for (const value of values) yield { value };
}

const joined: Methods['join'] = async (requests) => ({ value: (await all(requests)).join('+') });

const endless = (seen: AbortSignal[] = []): Methods['spell'] =>
  async function* (_request, { signal }) {
    seen.push(signal);
    yield { value: 'first' };
    await new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
    });
  };

describe.each(TRANSPORTS)('a stream of answers, over %s', (_name, open) => {
  test('arrives in order, and ends', async () => {
    const { client } = await opened(open, {
      async *spell({ value }) {
        yield* texts(...value);
      },
    });
    expect(await all(client(StreamService).spell({ value: 'reel' }))).toEqual(['r', 'e', 'e', 'l']);
    expect(await all(client(StreamService).spell({ value: '' }))).toEqual([]);
  });

  test('ends with the refusal of its method, after the messages before it', async () => {
    const { client, logged } = await opened(open, {
      async *spell() {
        yield { value: 'one' };
        throw new Problem({ kind: 'gone', reason: 'result_expired', message: 'is no longer kept', field: 'task_id' });
      },
    });
    const values: string[] = [];
    const refusal = await catchRefusal(
      (async () => {
        for await (const { value } of client(StreamService).spell({})) values.push(value);
      })(),
    );
    expect(values).toEqual(['one']);
    expect(readFields(refusal)).toMatchObject({ kind: 'gone', reason: 'result_expired', field: 'task_id' });
    expect(logged).toEqual([]);
  });

  test('tells its method when the caller stops reading', async () => {
    const signals: AbortSignal[] = [];
    const { client } = await opened(open, { spell: endless(signals) });
    for await (const { value } of client(StreamService).spell({})) {
      expect(value).toBe('first');
      break;
    }
    await inTime(aborted(signals[0]!));
  });

  test('tells its method when the caller cancels it', async () => {
    const signals: AbortSignal[] = [];
    const { client } = await opened(open, { spell: endless(signals) });
    const leaving = new AbortController();
    await catchRefusal(
      (async () => {
        for await (const _ of client(StreamService).spell({}, { signal: leaving.signal })) leaving.abort();
      })(),
    );
    await inTime(aborted(signals[0]!));
  });

  test('ends at its deadline, and tells its method', async () => {
    const signals: AbortSignal[] = [];
    const { client } = await opened(open, { spell: endless(signals) });
    expect(await catchRefusal(all(client(StreamService).spell({}, { timeoutMs: 2_000 })))).toMatchObject({
      kind: 'unavailable',
    });
    await inTime(aborted(signals[0]!));
  });
});

describe('a caller that does not read', () => {
  const big = { value: 'x'.repeat(64 * 1024) };
  const messages = 2000;
  let made: number;
  const methods: Partial<Methods> = {
    async *spell() {
      for (made = 0; made < messages; made += 1) yield big;
    },
  };
  /** Resolves when the method has not made a message for a while: what it made then fills the buffers of both sides. */
  const untilStill = async (): Promise<void> => {
    for (let last = -1; last !== made; await new Promise((resolve) => setTimeout(resolve, 100))) last = made;
  };

  test('is sent no more than its connection has room for, over gRPC', async () => {
    const { client } = await opened(openGrpc, methods);
    const reader = client(StreamService).spell({})[Symbol.asyncIterator]();
    await reader.next();
    await untilStill();
    expect(made).toBeLessThan(messages / 4);
    await reader.return?.();
  });

  test('is sent no more than its connection has room for, over Connect', async () => {
    const { port } = await opened(openConnect, methods);
    const request = http.request({
      port,
      method: 'POST',
      path: '/reelgate.testing.v1.StreamService/Spell',
      headers: { 'content-type': 'application/connect+json', authorization: 'Bearer key-of-the-program' },
    });
    request.end(Buffer.from([0, 0, 0, 0, 2, ...Buffer.from('""')]));
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    await untilStill();
    expect(response.statusCode).toBe(200);
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(messages / 4);
    response.destroy();
  });
});

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else
      signal.addEventListener('abort', () => {
        resolve();
      });
  });

describe.each(TRANSPORTS)('a stream of requests, over %s', (_name, open) => {
  test('arrives in order, and has one answer', async () => {
    const { client } = await opened(open, { join: joined });
    expect((await client(StreamService).join(texts('a', 'b', 'c'))).value).toBe('a+b+c');
  });

  test('needs a message', async () => {
    const { client } = await opened(open, { join: joined });
    expect(await catchRefusal(client(StreamService).join(texts()))).toMatchObject({
      kind: 'invalid',
      message: 'the stream has no message; send the first one before you close it',
    });
  });

  test('is answered before its end when its method refuses it', async () => {
    const { client } = await opened(open, {
      join: async (requests) => {
        for await (const _ of requests)
          throw new Problem({ kind: 'exhausted', reason: 'too_large', message: 'has more bytes than it may have' });
        return {};
      },
    });
    const ended = aGate();
    const waiting = (async function* () {
      yield { value: 'first' };
      await ended.opened;
    })();
    const refusal = catchRefusal(client(StreamService).join(waiting));
    if (_name === 'Connect with JSON') ended.open();
    expect(await inTime(refusal)).toMatchObject({ kind: 'exhausted', reason: 'too_large' });
    ended.open();
  });
});

describe.each(TRANSPORTS.filter(([name]) => name !== 'a direct call'))('the access rule, over %s', (_name, open) => {
  test('is checked before a stream of answers begins', async () => {
    const { client } = await opened(open, { spell: () => notCalled() });
    expect(await catchRefusal(all(client(StreamService, 'key-of-reporting').spell({ value: 'other' })))).toMatchObject({
      kind: 'forbidden',
      reason: 'account_not_allowed',
    });
    expect(await catchRefusal(all(client(StreamService, 'wrong').spell({ value: 'demo' })))).toMatchObject({
      kind: 'unauthenticated',
    });
  });

  test('is checked on the first message of a stream of requests', async () => {
    const { client } = await opened(open, { join: joined });
    const reporting = client(StreamService, 'key-of-reporting');
    expect((await reporting.join(texts('demo', 'x'))).value).toBe('demo+x');
    expect(await catchRefusal(reporting.join(texts('other', 'demo')))).toMatchObject({ reason: 'account_not_allowed' });
  });

  test('a stop of the server ends a stream with a refusal that can be repeated', async () => {
    const { client, stopServer } = await opened(open, { spell: endless() });
    const reader = client(StreamService).spell({})[Symbol.asyncIterator]();
    await reader.next();
    const end = catchRefusal(reader.next());
    await stopServer();
    expect(await inTime(end)).toMatchObject({ kind: 'unavailable', reason: 'service_stopping' });
  });
});

const CANCELLED = 20;

describe.each(TRANSPORTS)('a cancelled stream of requests, over %s', (_name, open) => {
  test('is never taken for a whole one', async () => {
    const ends: string[] = [];
    let began = 0;
    const { client } = await opened(open, {
      join: async (requests) => {
        began += 1;
        ends.push(
          await all(requests).then(
            () => 'whole',
            () => 'broken',
          ),
        );
        return {};
      },
    });
    for (let call = 1; call <= CANCELLED; call += 1) {
      const caller = new AbortController();
      const { opened: over, open: end } = aGate();
      const requests = async function* (): AsyncGenerator<{ value: string }> {
        yield* texts('demo', 'a part');
        await until(() => began === call);
        caller.abort();
        await over;
      };
      await catchRefusal(client(StreamService).join(requests(), { signal: caller.signal }));
      end();
    }
    await until(() => ends.length === CANCELLED);
    expect(new Set(ends)).toEqual(new Set(['broken']));
  });
});

describe('the streams of a server', () => {
  const forever = async function* (signal: AbortSignal): AsyncGenerator<number> {
    yield 1;
    await aborted(signal);
  };

  test('are at most 5,000 for one caller, and a closed one makes room', async () => {
    const streams = newRunningStreams();
    const bounds = { deadline: undefined, gone: undefined };
    const open = Array.from({ length: 5000 }, () => streams.run('one', bounds, forever));
    for (const stream of open) await stream.next();
    expect(await catchRefusal(streams.run('one', bounds, forever).next())).toMatchObject({
      kind: 'exhausted',
      reason: 'too_many_streams',
    });
    expect(await streams.run('other', bounds, forever).next()).toMatchObject({ value: 1 });
    await open[0]!.return(undefined);
    expect(await streams.run('one', bounds, forever).next()).toMatchObject({ value: 1 });
    streams.stop();
  });

  test('end after their longest life', async () => {
    const stream = newRunningStreams(1).run('one', { deadline: undefined, gone: undefined }, forever);
    await stream.next();
    expect(await inTime(catchRefusal(stream.next()))).toMatchObject({ kind: 'unavailable', reason: 'stream_expired' });
  });
});
