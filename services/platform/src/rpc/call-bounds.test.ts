import { connect } from 'node:http2';
import { afterEach, describe, expect, test } from '@jest/globals';
import { MediaService as MediaContract } from '@reelgate/proto/media/v1/media_service';
import { unruled } from '../../testing/unruled.ts';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { partialService } from '../../testing/partial-service.ts';
import { closingTransports, openConnect, openGrpc } from '../../testing/rpc-transports.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import { Problem } from '../problem.ts';
import { newRunningCalls, withinBounds } from './call-bounds.ts';
import type { Binding, CallContext } from './service.ts';

const MediaService = unruled(MediaContract);

const DEADLINE_EXCEEDED = '4';

const openFor = closingTransports();
const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const serving = (removeResult: (request: unknown, context: CallContext) => Promise<object>): Binding =>
  partialService(MediaService, { removeResult });

/** A client that sends its deadline and then waits without a limit, so that it sees the server's own answer. */
async function overGrpc(port: number, timeout: string): Promise<string> {
  const session = connect(`http://127.0.0.1:${port}`);
  ends.push(() => {
    session.destroy();
  });
  const stream = session.request({
    ':method': 'POST',
    ':path': '/reelgate.media.v1.MediaService/RemoveResult',
    'content-type': 'application/grpc',
    te: 'trailers',
    authorization: 'Bearer key-of-the-program',
    'grpc-timeout': timeout,
  });
  const statusIn = (headers: object): string | undefined =>
    (headers as Readonly<Record<string, string | undefined>>)['grpc-status'];
  const status = new Promise<string>((resolve) => {
    for (const event of ['response', 'trailers'])
      stream.on(event, (headers: object) => {
        resolve(statusIn(headers) ?? 'none');
      });
  });
  stream.resume().end(Buffer.alloc(5));
  return inTime(status);
}

const overConnect = async (port: number, timeoutMs: string): Promise<Response> =>
  inTime(
    fetch(`http://127.0.0.1:${port}/reelgate.media.v1.MediaService/RemoveResult`, {
      method: 'POST',
      body: '{}',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer key-of-the-program',
        'connect-timeout-ms': timeoutMs,
      },
    }),
  );

test('a deadline passes by its clock alone', async () => {
  const clock = fakeClock();
  const told = aGate();
  const call = withinBounds({ deadline: clock.now() + 60_000, gone: undefined, clock }, (signal) => {
    signal.addEventListener('abort', told.open);
    return new Promise(() => undefined);
  }).catch((thrown: unknown) => thrown);

  await clock.advance(60_000);

  await inTime(told.opened);
  expect(await inTime(call)).toMatchObject({ name: 'CallEnded', why: 'deadline_exceeded' });
});

test('a call that ends in time leaves no wait on its clock', async () => {
  const clock = fakeClock();
  let isTold = false;

  await withinBounds({ deadline: clock.now() + 1000, gone: undefined, clock }, async (signal) => {
    signal.addEventListener('abort', () => {
      isTold = true;
    });
  });
  await clock.advance(2000);

  expect(isTold).toBe(false);
});

describe('the deadline of a caller', () => {
  test('is answered over gRPC when it passes, while the method runs on with an aborted signal', async () => {
    const [gate, told] = [aGate(), aGate()];
    const { port } = await openFor(
      openGrpc,
      serving(async (_request, { signal }) => {
        signal.addEventListener('abort', told.open);
        await gate.opened;
        return {};
      }),
    );

    expect(await overGrpc(port, '300m')).toBe(DEADLINE_EXCEEDED);

    await inTime(told.opened);
    gate.open();
  });

  test('is answered over Connect when it passes, while the method runs on with an aborted signal', async () => {
    const [gate, told] = [aGate(), aGate()];
    const { port } = await openFor(
      openConnect,
      serving(async (_request, { signal }) => {
        signal.addEventListener('abort', told.open);
        await gate.opened;
        return {};
      }),
    );

    const response = await overConnect(port, '300');

    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([504, 'deadline_exceeded']);
    await inTime(told.opened);
    gate.open();
  });

  test('that has passed when the call arrives keeps the method from running', async () => {
    let calls = 0;
    const binding = serving(async () => {
      calls += 1;
      return {};
    });

    expect(await overGrpc((await openFor(openGrpc, binding)).port, '1n')).toBe(DEADLINE_EXCEEDED);
    expect((await overConnect((await openFor(openConnect, binding)).port, '0')).status).toBe(504);
    expect(calls).toBe(0);
  });
});

describe('the signal of a method', () => {
  const bounds = (ms: number) => ({ deadline: systemClock.now() + ms, gone: undefined });

  test('follows the clock even before its timer could run', async () => {
    const call = withinBounds(bounds(5), async (signal) => {
      const until = systemClock.now() + 6;
      while (systemClock.now() < until);
      expect(signal.aborted).toBe(false);
      signal.throwIfAborted();
    });

    await expect(call).rejects.toMatchObject({ name: 'CallEnded', why: 'deadline_exceeded' });
  });

  test('is aborted when the caller leaves, and not while there is time', async () => {
    const gone = new AbortController();
    const call = withinBounds({ deadline: undefined, gone: gone.signal }, async (signal) => {
      signal.throwIfAborted();
      gone.abort();
      expect(signal.reason).toMatchObject({ why: 'cancelled' });
      signal.throwIfAborted();
    });

    await expect(call).rejects.toMatchObject({ why: 'cancelled' });
    await expect(
      withinBounds(bounds(60_000), async (signal) => {
        signal.throwIfAborted();
        return 'done';
      }),
    ).resolves.toBe('done');
  });

  test('is not aborted for a deadline beyond the range of a timer', async () => {
    const gate = aGate();
    const call = withinBounds({ deadline: systemClock.now() + 2 ** 40, gone: undefined }, async (signal) => {
      await gate.opened;
      return signal.aborted;
    });
    setTimeout(gate.open, 5);

    expect(await inTime(call)).toBe(false);
  });
});

describe('the calls of a server', () => {
  test('are awaited at a stop, even when their callers have left', async () => {
    const gate = aGate();
    let isDone = false;
    const calls = newRunningCalls(silentLog);
    const call = calls.run('RemoveResult', { deadline: systemClock.now() + 10, gone: undefined }, async () => {
      await gate.opened;
      isDone = true;
    });
    await expect(call).rejects.toMatchObject({ why: 'deadline_exceeded' });

    const settled = calls.settled(new AbortController().signal);
    gate.open();
    await inTime(settled);

    expect(isDone).toBe(true);
  });

  test('are awaited at most for the limit', async () => {
    const calls = newRunningCalls(silentLog);
    const gone = new AbortController();
    const call = calls.run(
      'RemoveResult',
      { deadline: undefined, gone: gone.signal },
      () => new Promise(() => undefined),
    );
    gone.abort();
    await expect(call).rejects.toMatchObject({ why: 'cancelled' });

    await inTime(calls.settled(AbortSignal.timeout(10)));
  });

  test.each([
    ['a fault', new TypeError('undefined is not a function'), 1],
    ['a refusal', new Problem({ kind: 'invalid', reason: 'a_reason', message: 'no' }), 0],
  ])('that end in %s after their caller has left are logged %#', async (_what, thrown, lines) => {
    const logged: object[] = [];
    const calls = newRunningCalls({ ...silentLog, error: (fields) => void logged.push(fields) });
    const gate = aGate();
    const gone = new AbortController();
    const call = calls.run('RemoveResult', { deadline: undefined, gone: gone.signal }, async () => {
      await gate.opened;
      throw thrown;
    });
    gone.abort();
    await expect(call).rejects.toMatchObject({ why: 'cancelled' });

    gate.open();
    await inTime(calls.settled(new AbortController().signal));

    expect(logged).toHaveLength(lines);
  });
});
