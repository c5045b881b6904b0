import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { linger } from './serve-alone.ts';

function lingering(isNeeded?: () => Promise<boolean>) {
  const clock = fakeClock();
  const state = { over: false, asked: 0 };
  const counted =
    isNeeded &&
    (() => {
      state.asked += 1;
      return isNeeded();
    });
  void linger(counted, { clock, log: silentLog }).then(() => {
    state.over = true;
  });
  return { clock, state };
}

test('a service stops once other services no longer need it', async () => {
  let isNeeded = true;
  const { clock, state } = lingering(async () => isNeeded);
  for (let step = 0; step < 50; step += 1) await clock.advance(100);
  expect(state).toEqual({ over: false, asked: 50 });
  isNeeded = false;
  await clock.advance(100);

  expect(state).toEqual({ over: true, asked: 51 });
});

test('a service stops after the bound even if it is still needed', async () => {
  const { clock, state } = lingering(async () => true);
  for (let step = 0; step < 260; step += 1) await clock.advance(100);

  expect(state.over).toBe(true);
});

test.each<[string, (() => Promise<boolean>) | undefined]>([
  ['cannot say', () => Promise.reject(new Error('no database'))],
  ['is never needed', undefined],
])('a service that %s stops at once', async (_, isNeeded) => {
  const { clock, state } = lingering(isNeeded);
  await clock.advance(0);

  expect(state.over).toBe(true);
});
