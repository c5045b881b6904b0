import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { openBodyBudget } from './body-budget.ts';

const PATIENCE_MS = 1000;
const never = new AbortController().signal;
const opened = () => {
  const clock = fakeClock();
  return { clock, budget: openBodyBudget({ bytesMax: 100, clock, patienceMs: PATIENCE_MS }) };
};

test('bodies that do not fit wait for those before them, in the order of asking', async () => {
  const { budget } = opened();
  const entered: string[] = [];
  const ask = (name: string, bytes: number): Promise<void> =>
    budget.takeInTurn(bytes, never).then((taken) => void entered.push(`${name} ${String(taken)}`));
  expect(await budget.takeInTurn(60, never)).toBe(true);
  const all = [ask('large', 80), ask('small', 10)];
  await Promise.resolve();
  expect(entered).toEqual([]);

  budget.give(60);
  await Promise.all(all);

  expect(entered).toEqual(['large true', 'small true']);
  expect([budget.take(11), budget.take(10)]).toEqual([false, true]);
});

test('nobody waits for ever, nor when he has gone, and whoever stands behind goes on', async () => {
  const { clock, budget } = opened();
  const gone = new AbortController();
  await budget.takeInTurn(90, never);
  const [left, late, fits] = [
    budget.takeInTurn(50, gone.signal),
    budget.takeInTurn(50, never),
    budget.takeInTurn(10, never),
  ];

  gone.abort();
  expect(await left).toBe(false);
  await clock.advance(PATIENCE_MS);
  expect([await late, await fits]).toEqual([false, true]);
  expect(await budget.takeInTurn(1, AbortSignal.abort())).toBe(false);
});
