import { describe, expect, test } from '@jest/globals';
import { inTime } from '../testing/bounded-waits.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { systemClock, withTimeout } from './clock.ts';

const FOR_EVER_MS = 2 ** 30;

describe.each([
  ['the system’s clock', systemClock],
  ['the clock of tests', fakeClock()],
])('%s', (_name, clock) => {
  test('returns milliseconds since 1970', () => {
    expect(clock.now()).toBeGreaterThan(Date.UTC(2020, 0, 1));
    expect(Number.isSafeInteger(clock.now())).toBe(true);
  });

  test('ends a wait when its signal is aborted, without rejecting', async () => {
    const stopping = new AbortController();
    const wait = clock.sleep(FOR_EVER_MS, stopping.signal);

    stopping.abort();

    await inTime(wait);
  });

  test('does not wait when the signal is already aborted', async () => {
    await inTime(clock.sleep(FOR_EVER_MS, AbortSignal.abort()));
  });

  test('does not wait for zero milliseconds', async () => {
    await inTime(clock.sleep(0));
  });
});

test('the system’s clock waits', async () => {
  const before = performance.now();

  await systemClock.sleep(30);

  expect(performance.now() - before).toBeGreaterThanOrEqual(28);
});

test('the clock of tests moves only when it is advanced, and wakes the waits that are due', async () => {
  const clock = fakeClock(1000);
  const woken: number[] = [];
  for (const ms of [10, 20, 30]) void clock.sleep(ms).then(() => woken.push(ms));

  await clock.advance(20);

  expect(clock.now()).toBe(1020);
  expect(woken).toEqual([10, 20]);
});

describe('work with a timeout', () => {
  const untilAborted = (signal: AbortSignal): Promise<unknown> =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        resolve(signal.reason);
      });
    });

  test('is told of the end of its time by the clock', async () => {
    const clock = fakeClock();
    const reason = withTimeout(clock, { ms: 1000 }, untilAborted);

    await clock.advance(1000);

    expect(await inTime(reason)).toMatchObject({ name: 'TimeoutError', message: 'no end within 1000 ms' });
  });

  test('is told when its caller leaves', async () => {
    const caller = new AbortController();
    const reason = withTimeout(fakeClock(), { ms: 1000, caller: caller.signal }, untilAborted);

    caller.abort('the caller left');

    expect(await inTime(reason)).toBe('the caller left');
  });

  test.each([
    ['returns', () => Promise.resolve()],
    ['throws', () => Promise.reject(new Error('a fault of the work'))],
  ])('leaves no wait behind when it %s', async (_end, end) => {
    const waits: (AbortSignal | undefined)[] = [];
    const clock = {
      sleep: (_ms: number, signal?: AbortSignal): Promise<void> => {
        waits.push(signal);
        return new Promise(() => undefined);
      },
    };

    await withTimeout(clock, { ms: 1000 }, end).catch(() => undefined);

    expect(waits.map((signal) => signal?.aborted)).toEqual([true]);
  });
});
