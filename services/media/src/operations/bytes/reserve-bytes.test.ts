import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { keepReserved } from './reserve-bytes.ts';

const RECEIVE_MS = 10_000;

/** The end of one reservation. */
function aStore() {
  const kept = { until: 0, renewals: 0, fails: false };
  return {
    kept,
    renew: async (expiresAt: number) => {
      kept.renewals += 1;
      if (kept.fails) throw new Error('the store is away');
      kept.until = expiresAt;
    },
  };
}

test('a reservation lasts while its bytes come, and ends seconds after the process that receives them', async () => {
  const clock = fakeClock();
  const { kept, renew } = aStore();
  const received = new AbortController();
  const keeping = keepReserved(clock, received.signal, renew);
  for (let second = 0; second < 60; second += 1) {
    await clock.advance(1000);
    expect(kept.until).toBeGreaterThan(clock.now());
    // what a kill at this moment leaves
    expect(kept.until - clock.now()).toBeLessThanOrEqual(RECEIVE_MS);
  }
  received.abort();
  await keeping;
  const { renewals } = kept;
  await clock.advance(60_000);

  expect(kept.renewals).toBe(renewals);
});

test('a reservation outlasts a renewal that fails', async () => {
  const clock = fakeClock();
  const { kept, renew } = aStore();
  const received = new AbortController();
  const keeping = keepReserved(clock, received.signal, renew);
  await clock.advance(0);
  kept.fails = true;
  await clock.advance(3000);
  kept.fails = false;
  await clock.advance(3000);

  expect(kept.until).toBe(clock.now() + RECEIVE_MS);
  received.abort();
  await keeping;
});
