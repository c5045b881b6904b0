import { afterEach, describe, expect, test } from '@jest/globals';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { silentLog } from '../log.ts';
import type { Log } from '../log.ts';
import { currentRequestId, inRequest } from '../request-context.ts';
import { NOTHING_DUE, REST_MAX_MS, startWorker } from './worker.ts';
import type { PassResult, Worker } from './worker.ts';

const IDLE_MS = 1000;

const workers: Worker[] = [];
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop();
});

/** A worker with passes from the test, and the number of passes that began. It is idle or in its first wait. */
async function aWorker(
  pass: (number: number, signal: AbortSignal, now: number) => Promise<PassResult>,
  { idleMs = IDLE_MS, apartMs }: { readonly idleMs?: number; readonly apartMs?: number } = {},
) {
  const clock = fakeClock();
  const logged: object[] = [];
  const log: Log = { ...silentLog, error: (fields) => void logged.push(fields) };
  let passes = 0;
  const worker = startWorker({
    name: 'sweep',
    clock,
    log,
    idleMs,
    apartMs,
    pass: (signal) => pass((passes += 1), signal, clock.now()),
  });
  workers.push(worker);
  await clock.advance(0);
  return { worker, clock, logged, passes: () => passes };
}

const nothing = async (): Promise<number> => 0;
const failing = async (): Promise<number> => {
  throw new Error('the database is away');
};

describe('a worker', () => {
  test('makes its first pass at once', async () => {
    const { passes } = await aWorker(nothing);

    expect(passes()).toBe(1);
  });

  test('that a request starts or wakes makes its passes for none', async () => {
    const requests: (string | undefined)[] = [];
    const pass = async (): Promise<number> => {
      requests.push(currentRequestId());
      return 0;
    };
    const { worker, clock } = await inRequest('first', () => aWorker(pass));
    inRequest('second', () => {
      worker.wake();
    });
    await clock.advance(IDLE_MS);

    expect(requests.length).toBeGreaterThan(1);
    expect(requests.filter((id) => id !== undefined)).toEqual([]);
  });

  test('rests for its idle time after a pass that found nothing', async () => {
    const { clock, passes } = await aWorker(nothing);

    await clock.advance(IDLE_MS - 1);
    expect(passes()).toBe(1);
    await clock.advance(1);
    expect(passes()).toBe(2);
    await clock.advance(IDLE_MS);
    expect(passes()).toBe(3);
  });

  test('rests until work is due, if a pass knows that moment', async () => {
    const { clock, passes } = await aWorker(async (_number, _signal, now) => ({ dueAt: now + 3000 }));

    await clock.advance(2999);
    expect(passes()).toBe(1);
    await clock.advance(1);
    expect(passes()).toBe(2);
  });

  test('rests for its idle time, if work is due sooner', async () => {
    const { clock, passes } = await aWorker(async (_number, _signal, now) => ({ dueAt: now + 10 }));

    await clock.advance(IDLE_MS - 1);
    expect(passes()).toBe(1);
    await clock.advance(1);
    expect(passes()).toBe(2);
  });

  test('rests for a limited time, if nothing is due, because the clock can be set forward', async () => {
    const { clock, passes } = await aWorker(async () => NOTHING_DUE);

    await clock.advance(REST_MAX_MS - 1);
    expect(passes()).toBe(1);
    await clock.advance(1);
    expect(passes()).toBe(2);
  });

  test('ends the rest before due work when it is woken, also during the pass that found nothing', async () => {
    const asked = aGate();
    const { worker, clock, passes } = await aWorker(async (number) => {
      if (number === 2) await asked.opened;
      return NOTHING_DUE;
    });
    worker.wake();
    await clock.advance(0);
    expect(passes()).toBe(2);

    worker.wake();
    asked.open();
    await clock.advance(0);
    expect(passes()).toBe(3);
  });

  test('continues without a rest while there is work', async () => {
    const { passes } = await aWorker(async (number) => (number < 5 ? 1 : 0));

    expect(passes()).toBe(5);
  });

  test('keeps passes that do work apart, and begins the first one after a rest at once', async () => {
    const { worker, clock, passes } = await aWorker(async (number) => (number < 3 ? 1 : 0), { apartMs: 50 });
    worker.wake();
    await clock.advance(49);
    expect(passes()).toBe(1);
    await clock.advance(1);
    expect(passes()).toBe(2);
    await clock.advance(50);
    expect(passes()).toBe(3);

    await clock.advance(0);
    worker.wake();
    await clock.advance(0);
    expect(passes()).toBe(4);
  });

  test('rests after a pass that did all that was due, unless it is woken while it keeps the passes apart', async () => {
    const all = { ...NOTHING_DUE, did: 1 };
    const { worker, clock, passes } = await aWorker(async () => all, { apartMs: 50 });
    await clock.advance(10);
    worker.wake();
    await clock.advance(39);
    expect(passes()).toBe(1);

    await clock.advance(1);
    expect(passes()).toBe(2);
    await clock.advance(REST_MAX_MS);
    expect(passes()).toBe(2);
    worker.wake();
    await clock.advance(0);
    expect(passes()).toBe(3);
  });

  test('stops at once between two passes', async () => {
    const { worker } = await aWorker(async () => 1, { apartMs: 60_000 });

    await inTime(worker.stop());
  });

  test('waits longer after each failure, up to five seconds, and logs each failure', async () => {
    const { clock, passes, logged } = await aWorker(failing);
    const rests: number[] = [];
    for (let failure = 1; failure <= 7; failure += 1) {
      const before = passes();
      let rest = 0;
      while (passes() === before && rest < 60_000) {
        await clock.advance(1000);
        rest += 1000;
      }
      rests.push(rest);
    }

    expect(rests).toEqual([2000, 4000, 5000, 5000, 5000, 5000, 5000]);
    expect(logged).toHaveLength(8);
    expect(logged.at(-1)).toMatchObject({ worker: 'sweep', failures: 8, err: { message: 'the database is away' } });
  });

  test('never waits less after a failure than when idle', async () => {
    const { clock, passes } = await aWorker(failing, { idleMs: 120_000 });

    await clock.advance(119_999);
    expect(passes()).toBe(1);
    await clock.advance(1);
    expect(passes()).toBe(2);
  });

  test('resets its wait after a successful pass', async () => {
    const { clock, passes } = await aWorker(async (number) => (number === 1 ? failing() : 0));
    await clock.advance(2000);
    expect(passes()).toBe(2);

    await clock.advance(IDLE_MS);

    expect(passes()).toBe(3);
  });

  test('survives a pass that throws before it awaits anything', async () => {
    const { clock, passes } = await aWorker((number) => {
      if (number === 1) throw new Error('at once');
      return nothing();
    });

    await clock.advance(2000);

    expect(passes()).toBe(2);
  });
});

describe('wake()', () => {
  test('ends a rest', async () => {
    const { worker, clock, passes } = await aWorker(nothing);

    worker.wake();
    await clock.advance(0);

    expect(passes()).toBe(2);
  });

  test('ends the rest after a failure too', async () => {
    const { worker, clock, passes } = await aWorker(failing);

    worker.wake();
    await clock.advance(0);

    expect(passes()).toBe(2);
  });

  test('during a pass makes one more pass follow at once, for any number of calls', async () => {
    const gate = aGate();
    const { worker, clock, passes } = await aWorker(async (number) => {
      if (number === 1) await gate.opened;
      return 0;
    });
    for (let time = 0; time < 5; time += 1) worker.wake();
    expect(passes()).toBe(1);

    gate.open();
    await clock.advance(0);

    expect(passes()).toBe(2);
  });

  test('never makes two passes run at once', async () => {
    let running = 0;
    let most = 0;
    const { worker, clock } = await aWorker(async () => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      return 0;
    });

    for (let time = 0; time < 20; time += 1) {
      worker.wake();
      await clock.advance(0);
    }

    expect(most).toBe(1);
  });
});

describe('stop()', () => {
  test('ends a rest, and no pass follows', async () => {
    const { worker, clock, passes } = await aWorker(nothing);

    await inTime(worker.stop());
    worker.wake();
    await clock.advance(10 * IDLE_MS);

    expect(passes()).toBe(1);
  });

  test('aborts the signal of the running pass and waits for the pass', async () => {
    const gate = aGate();
    const said: string[] = [];
    const { worker, passes } = await aWorker(async (_number, signal) => {
      signal.addEventListener('abort', () => {
        said.push('told');
      });
      await gate.opened;
      said.push('ended');
      return 1;
    });

    const stopped = worker.stop().then(() => said.push('stopped'));
    gate.open();
    await inTime(stopped);

    expect(said).toEqual(['told', 'ended', 'stopped']);
    expect(passes()).toBe(1);
  });

  test('may be called twice', async () => {
    const { worker } = await aWorker(nothing);

    await inTime(Promise.all([worker.stop(), worker.stop()]));
    await inTime(worker.stop());
  });
});
