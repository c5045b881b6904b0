import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { newFairSemaphore } from './fair-semaphore.ts';
import type { FairSemaphore, FairSemaphoreOptions, Release } from './fair-semaphore.ts';

const YIELD_MS = 2000;
const TICK_MS = 100;
const NEVER = new AbortController().signal;

interface Transfer {
  readonly accountId: string;
  state: 'waiting' | 'running' | 'yielded' | 'busy' | 'done';
  end(): void;
}

interface World {
  readonly clock: FakeClock;
  readonly semaphore: FairSemaphore;
  begin(accountId: string, options?: { speed?: number; hasArrived?: boolean }): Promise<Transfer>;
  /** Advances the clock by `ms`, one tick at a time. */
  pass(ms: number): Promise<void>;
}

function open(over: Partial<FairSemaphoreOptions> = {}): World {
  const clock = fakeClock();
  const semaphore = newFairSemaphore({
    clock,
    permits: 16,
    waitingMax: 1000,
    yieldAfterMs: YIELD_MS,
    keepsLast: false,
    ...over,
  });
  const begin: World['begin'] = async (accountId, { speed = 0, hasArrived = false } = {}) => {
    let release: Release = () => undefined;
    const transfer: Transfer = {
      accountId,
      state: 'waiting',
      end: () => {
        transfer.state = 'done';
        release();
      },
    };
    const holder = {
      accountId,
      speed: () => speed,
      mayYield: () => transfer.state === 'running' && !hasArrived,
      yield: () => {
        transfer.state = 'yielded';
        setImmediate(() => {
          release();
        });
      },
    };
    void semaphore.take(holder, NEVER).then(
      (taken) => {
        release = taken;
        transfer.state = 'running';
      },
      () => {
        transfer.state = 'busy';
      },
    );
    await clock.advance(0);
    return transfer;
  };
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= TICK_MS) await clock.advance(Math.min(left, TICK_MS));
  };
  return { clock, semaphore, begin, pass };
}

const states = (transfers: readonly Transfer[]): string => transfers.map(({ state }) => state[0]).join('');

async function beginAll(world: World, accounts: readonly string[], options?: { speed?: number }): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  for (const account of accounts) transfers.push(await world.begin(account, options));
  return transfers;
}

describe('a free permit goes to', () => {
  test('the account with the fewest permits, and on a tie to the one with the least recent use', async () => {
    const world = open({ permits: 4, yieldAfterMs: 1e9 });
    const [a1, a2, , c1] = await beginAll(world, ['a', 'a', 'b', 'c']);
    await world.pass(1000);
    c1!.end();
    const waiting = await beginAll(world, ['a', 'a', 'b', 'c', 'd']);
    expect(states(waiting)).toBe('rwwww');

    a1!.end();
    await world.pass(TICK_MS);
    expect(states(waiting)).toBe('rwwwr');
    a2!.end();
    await world.pass(TICK_MS);
    expect(states(waiting)).toBe('rwwrr');
  });

  test('the first waiter of an account', async () => {
    const world = open({ permits: 1 });
    const [first, second, third] = await beginAll(world, ['a', 'a', 'a']);
    first!.end();
    await world.pass(TICK_MS);

    expect(states([first!, second!, third!])).toBe('drw');
  });
});

describe('a full queue', () => {
  test('drops the last waiter of the longest account for an account with fewer', async () => {
    const world = open({ permits: 1, waitingMax: 3, yieldAfterMs: 1e9 });
    const [, ...waiting] = await beginAll(world, ['x', 'a', 'a', 'a', 'b', 'c', 'a', 'd']);

    expect(states(waiting)).toBe('wbbwwbb');
  });
});

describe('a transfer yields', () => {
  test('after its time, and not before', async () => {
    const world = open({ permits: 1 });
    const [slow] = await beginAll(world, ['a']);
    const waiting = await world.begin('b');
    await world.pass(YIELD_MS - TICK_MS);
    expect(states([slow!, waiting])).toBe('rw');
    await world.pass(TICK_MS);

    expect(states([slow!, waiting])).toBe('yr');
  });

  test('never to its own account, and never after its bytes have arrived', async () => {
    const world = open({ permits: 1 });
    const own = await beginAll(world, ['a', 'a']);
    await world.pass(60_000);
    expect(states(own)).toBe('rw');

    const arrived = open({ permits: 1 });
    const first = await arrived.begin('a', { hasArrived: true });
    const waiting = await arrived.begin('b');
    await arrived.pass(60_000);
    expect(states([first, waiting])).toBe('rw');
  });

  test('if it is the slowest of the account with the most permits, not of another account', async () => {
    const world = open({ permits: 4 });
    const all: Transfer[] = [];
    for (const [account, speed] of [
      ['a', 900],
      ['a', 300],
      ['a', 500],
      ['b', 1],
    ] as const) {
      all.push(await world.begin(account, { speed }));
    }
    await world.pass(YIELD_MS);
    const waiting = await world.begin('c');
    await world.pass(TICK_MS);

    expect(states([...all, waiting])).toBe('ryrrr');
  });

  test('if it is the slowest of all and every account has one', async () => {
    const world = open({ permits: 3 });
    const all: Transfer[] = [];
    for (const [account, speed] of [
      ['a', 900],
      ['b', 300],
      ['c', 500],
    ] as const) {
      all.push(await world.begin(account, { speed }));
    }
    await world.pass(YIELD_MS);
    const waiting = await world.begin('d');
    await world.pass(TICK_MS);

    expect(states([...all, waiting])).toBe('ryrr');
  });

  test('for each waiter of another account, until both accounts have their share', async () => {
    const world = open();
    const greedy = await beginAll(world, Array<string>(16).fill('a'));
    await world.pass(YIELD_MS);
    const waiting = await beginAll(world, Array<string>(16).fill('b'));
    await world.pass(YIELD_MS);

    const running = (transfers: readonly Transfer[]): number =>
      transfers.filter(({ state }) => state === 'running').length;
    expect([running(greedy), running(waiting)]).toEqual([8, 8]);
  });

  test('unless it is the last of its account and the semaphore keeps it', async () => {
    const world = open({ permits: 4, keepsLast: true });
    const held = await beginAll(world, ['a', 'a', 'b', 'c']);
    const waiting = await beginAll(world, ['d', 'e']);
    await world.pass(60_000);

    expect(['ryrrrw', 'yrrrrw']).toContain(states([...held, ...waiting]));
  });
});

/** Accounts that never end a transfer, and start another for each that yields or is refused. */
async function storm(world: World, accounts: number, each: number): Promise<() => Promise<void>> {
  const attackers = Array.from({ length: accounts * each }, (_, index) => `attacker ${index % accounts}`);
  const running: Transfer[] = await beginAll(world, attackers);
  return async () => {
    for (const [index, { state, accountId }] of running.entries()) {
      if (state === 'yielded' || state === 'busy') running[index] = await world.begin(accountId);
    }
    await world.pass(TICK_MS);
  };
}

test.each([
  [4, 4],
  [16, 1],
  [40, 4],
  [200, 1],
])(
  'while %i accounts hold %i permits each, another waits at most as long as a transfer keeps its permit',
  async (accounts, each) => {
    const world = open();
    const step = await storm(world, accounts, each);
    for (let passed = 0; passed < 30_000; passed += TICK_MS) await step();

    const waits: number[] = [];
    for (let index = 0; index < 5; index += 1) {
      const began = world.clock.now();
      const honest = await world.begin('honest');
      while (honest.state === 'waiting') await step();
      waits.push(world.clock.now() - began);
      for (let passed = 0; passed < 500; passed += TICK_MS) await step();
      expect(honest.state).toBe('running');
      honest.end();
      for (let passed = 0; passed < 10_000; passed += TICK_MS) await step();
    }

    expect(Math.max(...waits)).toBeLessThanOrEqual(YIELD_MS + TICK_MS);
  },
);

test('twice as many accounts as permits, each with a long transfer, all finish', async () => {
  const world = open();
  const NEEDED_MS = 20_000;
  const left = new Map<string, { since: number; transfer?: Transfer }>();
  for (let index = 0; index < 32; index += 1) left.set(`account ${index}`, { since: 0 });
  let passed = 0;
  for (; left.size > 0 && passed < 600_000; passed += TICK_MS) {
    for (const [account, one] of left) {
      const { transfer } = one;
      if (transfer === undefined || transfer.state === 'yielded' || transfer.state === 'busy') {
        left.set(account, { since: 0, transfer: await world.begin(account) });
      } else if (transfer.state === 'running' && one.since === 0) one.since = world.clock.now();
      else if (transfer.state === 'running' && world.clock.now() - one.since >= NEEDED_MS) {
        transfer.end();
        left.delete(account);
      }
    }
    await world.pass(TICK_MS);
  }

  expect(left.size).toBe(0);
  // it would take forty seconds without yields
  expect(passed).toBeLessThan(180_000);
});

test('with very many accounts the use of idle ones is forgotten', async () => {
  const world = open({ permits: 1 });
  for (let index = 0; index < 3000; index += 1) {
    const accountId = `account ${index}`;
    const holder = { accountId, speed: () => 0, mayYield: () => false, yield: () => undefined };
    (await world.semaphore.take(holder, NEVER))();
  }

  expect(world.semaphore.idle()).toBe(true);
});
