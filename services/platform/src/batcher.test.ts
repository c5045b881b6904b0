import { describe, expect, test } from '@jest/globals';
import { newBatcher, newMomentBatcher, waitForTicks } from './batcher.ts';
import { currentContext, inRequest, inTrace } from './request-context.ts';

/** Each batch ends when the test says so. */
function scripted({ batchMax = 500, concurrency = 2, ticks = 1 } = {}) {
  const batches: { readonly batch: readonly number[]; readonly end: PromiseWithResolvers<readonly number[]> }[] = [];
  const { add, flush } = newBatcher<number, number>({
    batchMax,
    concurrency,
    fill: () => waitForTicks(ticks),
    send: (batch) => {
      const end = Promise.withResolvers<readonly number[]>();
      batches.push({ batch, end });
      return end.promise;
    },
  });
  return { batches, add, flush };
}
const tick = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('items of one tick are one batch, and each item gets its own answer', async () => {
  const { batches, add } = scripted();
  const answers = Promise.all([add(1), add(2), add(3)]);
  await tick();
  batches[0]?.end.resolve([10, 20, 30]);

  expect(batches.map(({ batch }) => batch)).toEqual([[1, 2, 3]]);
  expect(await answers).toEqual([10, 20, 30]);
});

test('at the concurrency limit, items wait for the next batch', async () => {
  const { batches, add } = scripted();
  const answers: Promise<number>[] = [];
  for (const item of [1, 2, 3, 4]) {
    answers.push(add(item));
    await tick();
  }
  expect(batches.map(({ batch }) => batch)).toEqual([[1], [2]]);
  batches[0]?.end.resolve([10]);
  await answers[0];
  await tick();

  expect(batches.map(({ batch }) => batch)).toEqual([[1], [2], [3, 4]]);
});

test('a batch fills for as many ticks as it is given', async () => {
  const { batches, add } = scripted({ ticks: 3 });
  for (const item of [1, 2, 3]) {
    void add(item);
    expect(batches).toEqual([]);
    await tick();
  }
  await tick();

  expect(batches.map(({ batch }) => batch)).toEqual([[1, 2, 3]]);
});

test('the fill learns whether the last batch had more than one item', async () => {
  const told: boolean[] = [];
  const { add } = newBatcher<number, number>({
    batchMax: 500,
    concurrency: 2,
    fill: async ({ isBusy }) => void told.push(isBusy),
    send: async (batch) => batch,
  });
  await add(1);
  await Promise.all([add(2), add(3)]);
  await add(4);
  await add(5);

  expect(told).toEqual([false, false, true, false]);
});

test('the fill learns when as many items wait as the last batch had', async () => {
  const told: boolean[] = [];
  let filled = Promise.withResolvers<undefined>();
  let isWhole = (): boolean => false;
  const { add } = newBatcher<number, number>({
    batchMax: 500,
    concurrency: 2,
    fill: (batch) => {
      ({ isWhole } = batch);
      return filled.promise;
    },
    send: async (batch) => batch,
  });
  const first = [add(1), add(2)];
  filled.resolve(undefined);
  await Promise.all(first);
  filled = Promise.withResolvers();
  const second = [3, 4, 5].map((item) => {
    const answer = add(item);
    told.push(isWhole());
    return answer;
  });
  filled.resolve(undefined);
  await Promise.all(second);

  expect(told).toEqual([false, true, true]);
});

test('a flush sends the items that wait at once', () => {
  const { batches, add, flush } = scripted({ ticks: 60 });
  void add(1);
  flush();

  expect(batches.map(({ batch }) => batch)).toEqual([[1]]);
});

test('a batch has at most batchMax items', async () => {
  const { batches, add } = scripted({ batchMax: 2, concurrency: 9 });
  for (const item of [1, 2, 3]) void add(item);
  await tick();

  expect(batches.map(({ batch }) => batch)).toEqual([[1, 2], [3]]);
});

test('a batch that fails, or has too few answers, fails its own items and no others', async () => {
  const { batches, add } = scripted();
  const first = [add(1), add(2)];
  await tick();
  const second = add(3);
  await tick();
  batches[0]?.end.resolve([10]);
  batches[1]?.end.reject(new Error('down'));

  expect(await first[0]).toBe(10);
  await expect(first[1]).rejects.toThrow('fewer answers');
  await expect(second).rejects.toThrow('down');
});

test('a batch of one request is sent for that request, and a batch of several requests for none', async () => {
  const sent: object[] = [];
  const { add } = newBatcher<string, true>({
    batchMax: 10,
    concurrency: 1,
    fill: () => waitForTicks(1),
    send: async (batch) => {
      await tick();
      sent.push({ batch, ...currentContext() });
      return batch.map(() => true as const);
    },
  });
  const one = (request: string, item: string): Promise<true> =>
    inRequest(request, () => inTrace(`trace of ${request}`, () => add(item)));

  await Promise.all([one('first', 'a'), one('first', 'b')]);
  await Promise.all([one('first', 'c'), one('second', 'd')]);
  // the batch of the second request is begun by the end of the first batch
  await Promise.all([
    one('first', 'e'),
    tick()
      .then(tick)
      .then(() => one('second', 'f')),
  ]);

  expect(sent).toEqual([
    { batch: ['a', 'b'], requestId: 'first', traceId: 'trace of first' },
    { batch: ['c', 'd'], requestId: undefined, traceId: undefined },
    { batch: ['e'], requestId: 'first', traceId: 'trace of first' },
    { batch: ['f'], requestId: 'second', traceId: 'trace of second' },
  ]);
});

describe('requests of one moment', () => {
  class Final extends Error {}

  /** Doubles numbers; zero can never succeed, and nothing that is with a one. */
  function doubling(listSharing?: (batch: readonly number[]) => readonly number[]) {
    const runs: { readonly requests: readonly number[]; readonly requestId: string | undefined }[] = [];
    const add = newMomentBatcher<number, number>({
      batchMax: 10,
      concurrency: 2,
      isFinal: (error) => error instanceof Final,
      run: async (requests) => {
        await tick();
        runs.push({ requests, requestId: currentContext().requestId });
        if (requests.includes(0)) throw new Error('zero');
        if (requests.includes(1) && requests.length > 1) throw new Final('maybe done');
        return requests.filter((one) => one < 100).map((one) => 2 * one);
      },
      ...(listSharing && { listSharing }),
    });
    return { add, runs };
  }

  test('run together, and each gets its own answer', async () => {
    const { add, runs } = doubling();

    expect(await Promise.all([2, 3, 4].map(add))).toEqual([4, 6, 8]);

    expect(runs.map(({ requests }) => requests)).toEqual([[2, 3, 4]]);
  });

  test('run each alone and for itself after they failed together, and fail for their own reason only', async () => {
    const { add, runs } = doubling();

    const answers = await Promise.allSettled([2, 0, 4].map((one) => inRequest(`request ${one}`, () => add(one))));

    expect(answers).toEqual([
      { status: 'fulfilled', value: 4 },
      { status: 'rejected', reason: new Error('zero') },
      { status: 'fulfilled', value: 8 },
    ]);
    expect(runs).toEqual([
      { requests: [2, 0, 4], requestId: undefined },
      { requests: [2], requestId: 'request 2' },
      { requests: [0], requestId: 'request 0' },
      { requests: [4], requestId: 'request 4' },
    ]);
  });

  test('run only once if they may have succeeded', async () => {
    const { add, runs } = doubling();

    const answers = await Promise.allSettled([1, 2].map(add));

    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs).toHaveLength(1);
  });

  test('run only once if some of them got no answer', async () => {
    const { add, runs } = doubling();

    await expect(Promise.all([2, 100].map(add))).rejects.toThrow('fewer answers');

    expect(runs).toHaveLength(1);
  });

  test('that cannot share run alone, after the others', async () => {
    const { add, runs } = doubling((batch) => batch.filter((one) => one % 2 === 0));

    expect(await Promise.all([3, 2, 4].map(add))).toEqual([6, 4, 8]);
    expect(await Promise.all([5, 7].map(add))).toEqual([10, 14]);

    expect(runs.map(({ requests }) => requests)).toEqual([[2, 4], [3], [5], [7]]);
  });

  test('never fail the one that is alone twice', async () => {
    const { add, runs } = doubling();

    await expect(add(0)).rejects.toThrow('zero');

    expect(runs).toHaveLength(1);
  });
});
