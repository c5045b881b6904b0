import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { newCallerPermits, newCallerShares, shareAmongCallers } from './caller-shares.ts';
import type { PeerLimits } from './peer-limits.ts';
import { divideLimits } from './shared-limits.ts';

const WANTING_MS = 5000;
const MINUTE_MS = 60_000;

test('a caller has all permits that others count until another one is refused, and again a minute after it', async () => {
  const clock = fakeClock();
  const shares = newCallerShares(clock, 7);
  shares.refused('one');
  expect(shares.shareOf('one')).toBe(7);

  shares.refused('two');
  expect(['one', 'two', 'three'].map((caller) => shares.shareOf(caller))).toEqual([3, 3, 2]);

  await clock.advance(MINUTE_MS + 10_000);
  expect(shares.shareOf('one')).toBe(7);
});

describe('permits that callers share', () => {
  test('are all for one caller while no other wants one', () => {
    const permits = newCallerPermits(fakeClock(), { permits: 4 });

    expect(Array.from({ length: 6 }, () => permits.tryAcquire('one'))).toEqual([true, true, true, true, false, false]);
  });

  test('go to another caller that was refused, until both have the same', () => {
    const permits = newCallerPermits(fakeClock(), { permits: 4 });
    for (let taken = 0; taken < 4; taken += 1) permits.tryAcquire('one');
    expect(permits.tryAcquire('two')).toBe(false);

    const got: string[] = [];
    for (let ended = 0; ended < 4; ended += 1) {
      permits.release(ended < 2 ? 'one' : (got[0] ?? ''));
      for (const caller of ['one', 'two']) if (permits.tryAcquire(caller)) got.push(caller);
    }

    expect(got).toEqual(['two', 'two', 'two', 'two']);
  });

  test('are all for one caller again when the other has not come back', async () => {
    const clock = fakeClock();
    const permits = newCallerPermits(clock, { permits: 2 });
    for (const caller of ['one', 'one', 'two']) permits.tryAcquire(caller);
    permits.release('one');
    expect(permits.tryAcquire('one')).toBe(false);

    await clock.advance(WANTING_MS);

    expect(permits.tryAcquire('one')).toBe(true);
  });

  test('are divided among the replicas, so that the callers of another one have their part', () => {
    const permits = newCallerPermits(fakeClock(), { permits: 8, replicas: () => 2 });
    permits.refused('two');

    expect(Array.from({ length: 4 }, () => permits.tryAcquire('one'))).toEqual([true, true, false, false]);
  });

  test('are released by the caller that took them', () => {
    const permits = newCallerPermits(fakeClock(), { permits: 2 });
    permits.tryAcquire('one');

    expect(() => {
      permits.release('two');
    }).toThrow('does not have');
    permits.release('one');
    expect(permits.inUse()).toBe(0);
  });
});

describe('the calls of a minute that callers share', () => {
  const shared = (clock: FakeClock): PeerLimits =>
    shareAmongCallers(divideLimits(clock).forPeer('main', { perMinute: 10 }), {
      clock,
      perMinute: 10,
      replicas: () => 1,
    });
  const admitted = async (peer: PeerLimits, caller: string, calls: number): Promise<number> => {
    let taken = 0;
    for (let call = 0; call < calls; call += 1) if ((await peer.admit({ caller })) === 0) taken += 1;
    return taken;
  };

  test('are all for one caller while no other wants some', async () => {
    const peer = shared(fakeClock());

    expect(await admitted(peer, 'one', 20)).toBe(10);
  });

  test('are half for each of two callers from the minute after the first has taken all', async () => {
    const clock = fakeClock();
    const peer = shared(clock);
    await admitted(peer, 'one', 10);
    await clock.advance(MINUTE_MS / 2);
    expect(await admitted(peer, 'two', 1)).toBe(0);

    await clock.advance(MINUTE_MS / 2);

    expect([await admitted(peer, 'one', 20), await admitted(peer, 'two', 20)]).toEqual([5, 5]);
  });
});
