import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { openBodyBudget } from './body-budget.ts';

const PATIENCE_MS = 1000;
const never = new AbortController().signal;
const opened = () => {
  const clock = fakeClock();
  return { clock, budget: openBodyBudget({ bytesMax: 100, clock, waitMsMax: PATIENCE_MS }) };
};

test('bodies that do not fit wait in the order of their arrival', async () => {
  const { budget } = opened();
  const entered: string[] = [];
  const ask = (name: string, bytes: number): Promise<void> =>
    budget.reserve(bytes, never).then((taken) => void entered.push(`${name} ${String(taken)}`));
  expect(await budget.reserve(60, never)).toBe(true);
  const all = [ask('large', 80), ask('small', 10)];
  await Promise.resolve();
  expect(entered).toEqual([]);

  budget.release(60);
  await Promise.all(all);

  expect(entered).toEqual(['large true', 'small true']);
  expect([budget.tryReserve(11), budget.tryReserve(10)]).toEqual([false, true]);
});

test('a body stops waiting after the limit or when its client leaves, and the next body proceeds', async () => {
  const { clock, budget } = opened();
  const gone = new AbortController();
  await budget.reserve(90, never);
  const [left, late, fits] = [budget.reserve(50, gone.signal), budget.reserve(50, never), budget.reserve(10, never)];

  gone.abort();
  expect(await left).toBe(false);
  await clock.advance(PATIENCE_MS);
  expect([await late, await fits]).toEqual([false, true]);
  expect(await budget.reserve(1, AbortSignal.abort())).toBe(false);
});
