import { expect, test } from '@jest/globals';
import { singleFlight } from './single-flight.ts';

const never = new AbortController().signal;

test('work under one name runs once for all concurrent callers, and again afterwards', async () => {
  const flight = singleFlight<number>();
  let runs = 0;
  const work = async (): Promise<number> => {
    runs += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return runs;
  };

  expect(
    await Promise.all([flight.run('a', work, never), flight.run('a', work, never), flight.run('b', work, never)]),
  ).toEqual([2, 2, 2]);
  expect(await flight.run('a', work, never)).toBe(3);
});

test('a caller that leaves is released, and the work continues', async () => {
  const flight = singleFlight<string>();
  const leaving = new AbortController();
  const { promise, resolve } = Promise.withResolvers<string>();
  const left = flight.run('a', () => promise, leaving.signal);
  const stayed = flight.run('a', () => promise, never);

  leaving.abort(new Error('gone'));

  await expect(left).rejects.toThrow('gone');
  resolve('done');
  expect(await stayed).toBe('done');
  await flight.settled();
});

test('the signal of the work is aborted when the last caller leaves, and not before', async () => {
  const flight = singleFlight<string>();
  const [one, two] = [new AbortController(), new AbortController()];
  const { promise, resolve } = Promise.withResolvers<string>();
  let left: AbortSignal | undefined;
  const work = (told: AbortSignal): Promise<string> => {
    left = told;
    return promise;
  };
  const callers = [flight.run('a', work, one.signal), flight.run('a', work, two.signal)].map((caller) =>
    caller.catch(() => 'left'),
  );

  one.abort(new Error('gone'));
  await callers[0];
  expect(left?.aborted).toBe(false);
  two.abort(new Error('gone'));
  await callers[1];
  expect(left?.aborted).toBe(true);
  resolve('done');
  await flight.settled();
});

test('a caller that comes while the work gives up starts it again', async () => {
  const flight = singleFlight<string>();
  const leaving = new AbortController();
  const { promise: over, resolve: end } = Promise.withResolvers<undefined>();
  let runs = 0;
  const work = async (left: AbortSignal): Promise<string> => {
    runs += 1;
    if (runs > 1) return 'done';
    await over;
    throw left.reason as Error;
  };
  const left = flight.run('a', work, leaving.signal).catch(() => 'left');
  leaving.abort(new Error('gone'));
  await left;

  const asked = flight.run('a', work, never);
  end(undefined);
  expect(await asked).toBe('done');
  expect(runs).toBe(2);
});

test('a failure reaches every caller and is not cached', async () => {
  const flight = singleFlight<string>();
  const fail = (): Promise<string> => Promise.reject(new Error('no'));

  await expect(Promise.all([flight.run('a', fail, never), flight.run('a', fail, never)])).rejects.toThrow('no');
  expect(await flight.run('a', async () => 'yes', never)).toBe('yes');
});
