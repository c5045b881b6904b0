import { describe, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { until } from '@reelgate/platform/testing/until';
import { startLeasedPool } from './leased-pool.ts';
import type { HeldLease, LeasedPool, LeasedPoolOptions } from './leased-pool.ts';

const LEASE_MS = 10_000;
const DRAIN_MS = 5000;

interface PoolFixture {
  readonly clock: FakeClock;
  /** What is due, in order. */
  readonly due: string[];
  /** The leases of work that has begun. */
  readonly held: Map<string, HeldLease>;
  /** What was asked of the owner of the leases, in order. */
  readonly calls: string[];
  readonly errors: object[];
  readonly lost: Set<string>;
  end(work: string, error?: Error): void;
  start(options?: Partial<LeasedPoolOptions<string>>): LeasedPool;
}

function aPoolFixture(): PoolFixture {
  const clock = fakeClock();
  const ends = new Map<string, (error: Error | undefined) => void>();
  const [due, calls, errors] = [[] as string[], [] as string[], [] as object[]];
  const [held, lost] = [new Map<string, HeldLease>(), new Set<string>()];
  return {
    clock,
    due,
    held,
    calls,
    errors,
    lost,
    end: (work, error) => {
      ends.get(work)?.(error);
    },
    start: (options = {}) =>
      startLeasedPool<string>({
        name: 'pool',
        workers: 2,
        drainMs: DRAIN_MS,
        clock,
        log: { ...silentLog, error: (fields) => void errors.push(fields) },
        lease: async (limit) => {
          calls.push(`lease ${limit}`);
          const work = due.splice(0, limit);
          return { work, leaseMs: LEASE_MS, next: work.length };
        },
        renew: async (work) => {
          if (work.length > 0) calls.push(`renew ${work.join(' ')}`);
          return work.filter((one) => lost.has(one));
        },
        run: async (work, lease) => {
          held.set(work, lease);
          const { promise, resolve, reject } = Promise.withResolvers<undefined>();
          ends.set(work, (error) => {
            if (error === undefined) resolve(undefined);
            else reject(error);
          });
          for (const signal of [lease.lost, lease.cutOff])
            signal.addEventListener('abort', () => {
              resolve(undefined);
            });
          await promise;
        },
        ...options,
      }),
  };
}

describe('a leased pool', () => {
  test('leases as much as it has free workers, and again when work ends', async () => {
    const { due, held, calls, end, start } = aPoolFixture();
    due.push('a', 'b', 'c');
    const pool = start();
    await until(() => held.size === 2);
    expect(pool.running()).toBe(2);
    end('a');
    await until(() => held.has('c'));
    expect(calls).toEqual(['lease 2', 'lease 1']);
    await pool.stop(AbortSignal.abort());
  });

  test('takes no more at once than one lease may have', async () => {
    const { due, held, calls, start } = aPoolFixture();
    due.push('a', 'b');
    const pool = start({ workers: 5, leaseMax: 1 });
    await until(() => held.size === 2);
    expect(new Set(calls)).toEqual(new Set(['lease 1']));
    await pool.stop(AbortSignal.abort());
  });

  test('goes on after work that throws, and logs it', async () => {
    const { due, held, errors, end, start } = aPoolFixture();
    due.push('a', 'b');
    const pool = start({ workers: 1 });
    await until(() => held.has('a'));
    const crash = new Error('crash');
    end('a', crash);
    await until(() => held.has('b'));
    expect(errors).toEqual([{ pool: 'pool', err: crash }]);
    await pool.stop(AbortSignal.abort());
  });

  test('goes on after a lease that failed', async () => {
    const { clock, held, start } = aPoolFixture();
    let attempts = 0;
    const pool = start({
      lease: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('unavailable');
        return { work: ['a'], leaseMs: LEASE_MS, next: 0 };
      },
      workers: 1,
    });
    await until(() => attempts === 1);
    await clock.advance(0);
    await clock.advance(2000);
    await until(() => held.has('a'));
    await pool.stop(AbortSignal.abort());
  });
});

describe('the lease of running work', () => {
  test('is renewed five times in its time, until the work ends', async () => {
    const { clock, due, held, calls, end, start } = aPoolFixture();
    due.push('a');
    const pool = start();
    await until(() => held.has('a'));
    for (let second = 0; second < 10; second += 1) await clock.advance(1000);
    const renewals = (): number => calls.filter((call) => call === 'renew a').length;
    expect(renewals()).toBeGreaterThanOrEqual(5);
    end('a');
    await until(() => pool.running() === 0);
    const before = renewals();
    for (let second = 0; second < 10; second += 1) await clock.advance(1000);
    expect(renewals()).toBe(before);
    await pool.stop();
  });

  test('is told to its work when it is lost, and is not renewed again', async () => {
    const { clock, due, held, calls, lost, start } = aPoolFixture();
    due.push('a', 'b');
    const pool = start();
    await until(() => held.size === 2);
    lost.add('a');
    for (let second = 0; second < 3; second += 1) await clock.advance(1000);
    expect([held.get('a')?.isHeld(), held.get('b')?.isHeld()]).toEqual([false, true]);
    expect([held.get('a')?.lost.aborted, held.get('b')?.lost.aborted]).toEqual([true, false]);
    const before = calls.length;
    await clock.advance(LEASE_MS);
    expect(calls.slice(before).filter((call) => call.includes('a') && call.startsWith('renew a'))).toEqual([]);
    await pool.stop(AbortSignal.abort());
  });

  test('is over after its time if it cannot be renewed', async () => {
    const { clock, due, held, start } = aPoolFixture();
    due.push('a');
    const pool = start({
      renew: async () => {
        throw new Error('unavailable');
      },
    });
    await until(() => held.has('a'));
    await clock.advance(LEASE_MS - 1);
    expect(held.get('a')?.isHeld()).toBe(true);
    await clock.advance(1);
    expect([held.get('a')?.isHeld(), held.get('a')?.lost.aborted]).toEqual([false, false]);
    await pool.stop(AbortSignal.abort());
  });
});

describe('a leased pool that stops', () => {
  test('begins nothing more and waits for the running work', async () => {
    const { due, held, end, start } = aPoolFixture();
    due.push('a');
    const pool = start();
    await until(() => held.has('a'));
    const stopped = pool.stop();
    expect(held.get('a')?.stopping.aborted).toBe(true);
    due.push('b');
    end('a');
    await stopped;
    expect([held.get('a')?.cutOff.aborted, held.has('b'), pool.running()]).toEqual([false, false, 0]);
  });

  test('cuts off what runs longer than the drain time', async () => {
    const { clock, due, held, start } = aPoolFixture();
    due.push('a');
    const pool = start();
    await until(() => held.has('a'));
    const stopped = Promise.all([pool.stop(), pool.stop()]);
    await clock.advance(0);
    await clock.advance(DRAIN_MS - 1);
    expect(held.get('a')?.cutOff.aborted).toBe(false);
    await clock.advance(1);
    await stopped;
    expect(held.get('a')?.cutOff.aborted).toBe(true);
  });

  test('renews the leases of the work that it waits for', async () => {
    const { clock, due, held, calls, end, start } = aPoolFixture();
    due.push('a');
    const pool = start();
    await until(() => held.has('a'));
    const stopped = pool.stop();
    const before = calls.length;
    await clock.advance(0);
    await clock.advance(4000);
    expect(calls.slice(before)).toContain('renew a');
    end('a');
    await stopped;
  });
});
