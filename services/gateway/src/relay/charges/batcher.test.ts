import { expect, test } from '@jest/globals';
import { gatherer, turns } from './batcher.ts';

/** Sends that a test ends when it likes. */
function scripted({ batchMax = 500, atOnce = 2, count = 1 } = {}) {
  const batches: { readonly batch: readonly number[]; readonly end: PromiseWithResolvers<readonly number[]> }[] = [];
  const { take, leave } = gatherer<number, number>({
    batchMax,
    atOnce,
    gathered: () => turns(count),
    send: (batch) => {
      const end = Promise.withResolvers<readonly number[]>();
      batches.push({ batch, end });
      return end.promise;
    },
  });
  return { batches, take, leave };
}
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('what comes in one turn leaves in one batch, and each gets its own answer', async () => {
  const { batches, take } = scripted();
  const answers = Promise.all([take(1), take(2), take(3)]);
  await turn();
  batches[0]?.end.resolve([10, 20, 30]);

  expect(batches.map(({ batch }) => batch)).toEqual([[1, 2, 3]]);
  expect(await answers).toEqual([10, 20, 30]);
});

test('while as many batches run as may, the others gather', async () => {
  const { batches, take } = scripted();
  const answers: Promise<number>[] = [];
  for (const item of [1, 2, 3, 4]) {
    answers.push(take(item));
    await turn();
  }
  expect(batches.map(({ batch }) => batch)).toEqual([[1], [2]]);
  batches[0]?.end.resolve([10]);
  await answers[0];
  await turn();

  expect(batches.map(({ batch }) => batch)).toEqual([[1], [2], [3, 4]]);
});

test('where nobody waits, a batch gathers for a few turns', async () => {
  const { batches, take } = scripted({ count: 3 });
  for (const item of [1, 2, 3]) {
    void take(item);
    expect(batches).toEqual([]);
    await turn();
  }
  await turn();

  expect(batches.map(({ batch }) => batch)).toEqual([[1, 2, 3]]);
});

test('nobody who waits in a hurry waits for company', () => {
  const { batches, take, leave } = scripted({ count: 60 });
  void take(1);
  leave();

  expect(batches.map(({ batch }) => batch)).toEqual([[1]]);
});

test('a batch has no more than it may', async () => {
  const { batches, take } = scripted({ batchMax: 2, atOnce: 9 });
  for (const item of [1, 2, 3]) void take(item);
  await turn();

  expect(batches.map(({ batch }) => batch)).toEqual([[1, 2], [3]]);
});

test('a batch that fails, or is answered short, fails those who waited for it and nobody else', async () => {
  const { batches, take } = scripted();
  const first = [take(1), take(2)];
  await turn();
  const second = take(3);
  await turn();
  batches[0]?.end.resolve([10]);
  batches[1]?.end.reject(new Error('down'));

  expect(await first[0]).toBe(10);
  await expect(first[1]).rejects.toThrow('too few');
  await expect(second).rejects.toThrow('down');
});
