import { expect, test } from '@jest/globals';
import type { Clock } from '@reelgate/platform/clock';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { Parser } from './parser-process.ts';
import { newParserWorkers } from './parser-workers.ts';
import type { ParserWorkers } from './parser-workers.ts';

const MINUTE_MS = 60_000;

/** Workers whose processes do nothing, and a clock that counts the sleeps under way. */
function newIdleWorkers({ isUp = async () => true, jobs = 0 }: { isUp?: () => Promise<boolean>; jobs?: number } = {}) {
  const clock = fakeClock();
  let [sleeps, started, ended] = [0, 0, 0];
  const counting: Clock = {
    ...clock,
    sleep: async (...args) => {
      sleeps += 1;
      await clock.sleep(...args);
      sleeps -= 1;
    },
  };
  const aParser = (): Parser => {
    started += 1;
    return {
      pid: undefined,
      isOver: false,
      jobs,
      usedMs: 0,
      isUp,
      run: async () => Promise.reject(new Error('this process takes no file')),
      kill: async () => {
        ended += 1;
      },
    };
  };
  const workers: ParserWorkers = newParserWorkers({
    clock: counting,
    log: silentLog,
    parsers: { start: async () => aParser() },
    warm: 0,
    heapBytes: 1,
    memoryBytes: 1,
    jobProcessorMs: 1,
  });
  return { clock, workers, sleeps: () => sleeps, started: () => started, ended: () => ended };
}

test('a process that is taken again and again has one timer at most', async () => {
  const { clock, workers, sleeps, started } = newIdleWorkers();
  for (let job = 0; job < 100; job += 1) workers.giveBack(await workers.take());
  await clock.advance(1);

  expect([started(), sleeps()]).toEqual([1, 1]);
  await workers.stop();
  await clock.advance(0);
  expect(sleeps()).toBe(0);
});

test('a process ends a minute after its last job, not after an earlier one', async () => {
  const { clock, workers, ended } = newIdleWorkers();
  workers.giveBack(await workers.take());
  await clock.advance(MINUTE_MS - 1);
  workers.giveBack(await workers.take());

  await clock.advance(MINUTE_MS - 1);
  expect(ended()).toBe(0);
  await clock.advance(1);
  expect(ended()).toBe(1);
});

test('jobs that come while a process starts wait for it, and no other one starts', async () => {
  const up = Promise.withResolvers<boolean>();
  const { clock, workers, started } = newIdleWorkers({ isUp: () => up.promise });
  const taken = Array.from({ length: 4 }, () => workers.take());
  await clock.advance(10_000);
  expect(started()).toBe(1);

  up.resolve(true);
  const parsers: Parser[] = [];
  for (const each of taken) {
    parsers.push(await each);
    workers.giveBack(parsers[0]!);
  }

  expect([new Set(parsers).size, started()]).toEqual([1, 1]);
});

test('a job that waits longer than a start takes gets another process, one at a time', async () => {
  const ups = [Promise.resolve(true), Promise.withResolvers<boolean>()] as const;
  const { clock, workers, started } = newIdleWorkers({
    isUp: () => (started() === 1 ? ups[0] : ups[1].promise),
  });
  const first = await workers.take();
  const waiting = [workers.take(), workers.take()];
  await clock.advance(0);
  await clock.advance(299);
  expect(started()).toBe(1);

  await clock.advance(1);
  expect(started()).toBe(2);
  await clock.advance(10_000);
  ups[1].resolve(true);
  expect(await waiting[0]).not.toBe(first);
  workers.giveBack(first);

  expect(await waiting[1]).toBe(first);
  expect(started()).toBe(2);
});

test('a job that waits for a process that ends gets another one at once', async () => {
  const { workers, started, ended } = newIdleWorkers({ jobs: 5000 });
  const first = await workers.take();
  const waiting = workers.take();
  await Promise.resolve();
  workers.giveBack(first);

  expect(await waiting).not.toBe(first);
  expect([started(), ended()]).toEqual([2, 1]);
});

test('a process is replaced at its first job after ten minutes', async () => {
  const { clock, workers, ended } = newIdleWorkers();
  for (let minutes = 0; minutes < 20; minutes += 1) {
    workers.giveBack(await workers.take());
    await clock.advance(MINUTE_MS / 2);
  }
  expect(ended()).toBe(0);
  workers.giveBack(await workers.take());

  expect(ended()).toBe(1);
});
