import { describe, expect, test } from '@jest/globals';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { aJobFixture, answers } from '../../testing/a-job-fixture.ts';
import type { JobFixture } from '../../testing/a-job-fixture.ts';
import { until } from '@reelgate/platform/testing/until';
import { startJobPool } from './start-jobs.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';

const DRAIN_MS = 5000;

async function queue(world: JobFixture, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await world.queue();
}

function pool(world: JobFixture, workers: number): LeasedPool {
  return startJobPool(world.deps, { workers, drainMs: DRAIN_MS, name: 'gateway' });
}

const states = ({ tasks }: JobFixture): TaskState[] => [...tasks.jobs.values()].map(({ state }) => state);
const isDone = (world: JobFixture) => (): boolean => states(world).every((state) => state === TaskState.COMPLETED);

/** An upstream that holds every call until the test releases it. */
function held(world: JobFixture): { readonly running: () => number; readonly most: () => number; release(): void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let [running, most] = [0, 0];
  world.relay.upstream = async (sink, gone) => {
    running += 1;
    most = Math.max(most, running);
    const left = Promise.withResolvers<'gone'>();
    gone.addEventListener(
      'abort',
      () => {
        left.resolve('gone');
      },
      { once: true },
    );
    const how = await Promise.race([promise, left.promise]);
    running -= 1;
    return how === 'gone' ? { status: 0, how, usage: undefined } : answers(200, '{}')(sink, gone);
  };
  return {
    running: () => running,
    most: () => most,
    release: () => {
      resolve(undefined);
    },
  };
}

describe('a pool of workers', () => {
  test('makes every call, and never more at a time than it has workers', async () => {
    const world = aJobFixture();
    await queue(world, 20);
    const upstream = held(world);
    const jobPool = pool(world, 3);
    await until(() => upstream.running() === 3);
    expect(jobPool.running()).toBe(3);
    upstream.release();
    await until(isDone(world));

    expect([upstream.most(), world.relay.reached]).toEqual([3, 20]);
    await jobPool.stop();
  });

  test('leases jobs when it is woken, and at intervals when it is not', async () => {
    const world = aJobFixture();
    const jobPool = pool(world, 2);
    await queue(world, 1);
    jobPool.wake();
    await until(isDone(world));
    await queue(world, 1);
    await until(() => {
      void world.clock.advance(1000);
      return isDone(world)();
    });
    await jobPool.stop();
  });

  test('asks for no job while none is due that would not be announced', async () => {
    const world = aJobFixture();
    let asked = 0;
    const { jobs } = world.deps;
    const leaseJobs: typeof jobs.leaseJobs = async (...request) => {
      asked += 1;
      return { ...(await jobs.leaseJobs(...request)), restMs: 4000n };
    };
    const jobPool = pool({ ...world, deps: { ...world.deps, jobs: { ...jobs, leaseJobs } } }, 2);
    await world.clock.advance(0);
    await world.clock.advance(3999);
    expect(asked).toBe(1);
    await world.clock.advance(1);
    expect(asked).toBe(2);
    await jobPool.stop();
  });

  test('shares the queue with another pool, and each call is made once', async () => {
    const world = aJobFixture();
    await queue(world, 40);
    const both = [pool(world, 3), pool(world, 5)];
    await until(isDone(world));

    expect(world.relay.reached).toBe(40);
    expect([...world.tasks.jobs.values()].map(({ starts }) => starts)).toEqual(Array.from({ length: 40 }, () => 1));
    await Promise.all(both.map((jobPool) => jobPool.stop()));
  });

  test('aborts a call whose lease it has lost', async () => {
    const world = aJobFixture();
    await queue(world, 2);
    const upstream = held(world);
    const jobPool = pool(world, 2);
    await until(() => upstream.running() === 2);
    const [lost] = world.tasks.jobs.keys();
    world.tasks.lost.add(lost!);
    await world.clock.advance(1000);
    await until(() => upstream.running() === 1);

    upstream.release();
    await until(() => states(world)[1] === TaskState.COMPLETED);
    expect(states(world)[0]).toBe(TaskState.IN_PROGRESS);
    await jobPool.stop();
  });

  test('that stops lets running calls end, and begins no other call', async () => {
    const world = aJobFixture();
    await queue(world, 5);
    const upstream = held(world);
    const jobPool = pool(world, 2);
    await until(() => upstream.running() === 2);
    const stopped = jobPool.stop();
    upstream.release();
    await stopped;

    expect(states(world).toSorted()).toEqual([
      TaskState.QUEUED,
      TaskState.QUEUED,
      TaskState.QUEUED,
      TaskState.COMPLETED,
      TaskState.COMPLETED,
    ]);
    expect(world.relay.reached).toBe(2);
  });

  test('that stops aborts calls that exceed the drain time, and reports their outcome as unknown', async () => {
    const world = aJobFixture();
    await queue(world, 1);
    const upstream = held(world);
    const jobPool = pool(world, 2);
    await until(() => upstream.running() === 1);
    const stopped = jobPool.stop();
    await world.clock.advance(0);
    await world.clock.advance(DRAIN_MS - 1);
    expect(upstream.running()).toBe(1);
    await world.clock.advance(1);
    await stopped;

    expect([upstream.running(), world.tasks.calls.at(-1)]).toEqual([
      0,
      `returnJob unknown 0 ${world.tasks.single().id}`,
    ]);
  });
});
