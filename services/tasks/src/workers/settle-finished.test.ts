import { describe, expect, test } from '@jest/globals';
import { refused } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../testing/orders.ts';
import { completed, numbered } from '../../testing/store/opened-store.ts';
import type { Task, Usage } from '../domain/task.ts';
import { findNextSettlement, settleFinished } from './settle-finished.ts';
import type { SlowSettlements } from './settle-finished.ts';

const open = useWorlds();
const HEAD_START_MS = 3000;
const PASS_MS = 1000;
const USAGE: Usage = { totalSeconds: 6, promptTokens: 10, completionTokens: 20 };

async function withEnded(state: 'completed' | 'failed', usage?: Usage, upstreamCostMicroUsd?: number) {
  const world = await open();
  const { task } = await world.create();
  await world.deps.store.finish(task.id, { state, at: world.clock.now(), usage, upstreamCostMicroUsd });
  world.journal.clear();
  return { world, task };
}

const holdOf = ({ billing }: World, { id }: Task) => billing.holds.get(id);

describe('a finished task', () => {
  test('is left to its event for a while, then settled once by the reported usage', async () => {
    const { world, task } = await withEnded('completed', USAGE);

    await world.clock.advance(HEAD_START_MS);
    expect(await settleFinished(world.deps)).toBe(0);

    await world.clock.advance(1);
    expect(await settleFinished(world.deps)).toBe(1);
    expect(await settleFinished(world.deps)).toBe(0);

    expect(holdOf(world, task)).toMatchObject({ state: 'settled', usage: USAGE });
    const [settle, ...others] = world.journal.calls.filter(({ name }) => name.startsWith('billing.'));
    expect(settle).toMatchObject({ name: 'billing.settle', args: [task.id, USAGE, { channel: 'main' }] });
    expect(others).toEqual([]);
  });

  test('is settled by the pass after the rest that its end begins', async () => {
    const { world, task } = await withEnded('completed');
    await world.clock.advance(1000);

    const next = await findNextSettlement(world.deps, new Map());
    await world.clock.advance(next!.dueAt - world.clock.now());

    expect(await settleFinished(world.deps)).toBe(1);
    expect(holdOf(world, task)).toMatchObject({ state: 'settled' });
  });

  test.each([
    ['completed', 'billing.settle', 2],
    ['failed', 'billing.releaseHold', 1],
  ] as const)('that is %s tells billing its channel and what the upstream charged', async (state, name, at) => {
    const { world } = await withEnded(state, USAGE, 350_000);
    await world.clock.advance(HEAD_START_MS + 1);

    await settleFinished(world.deps);

    const call = world.journal.calls.find((one) => one.name === name);
    expect(call?.args[at]).toMatchObject({ channel: 'main', upstreamCostMicroUsd: 350_000 });
  });

  test('without usage is settled without usage', async () => {
    const { world, task } = await withEnded('completed');
    await world.clock.advance(HEAD_START_MS + 1);

    await settleFinished(world.deps);

    expect(holdOf(world, task)).toMatchObject({ state: 'settled', usage: undefined });
  });

  test('that failed releases its whole hold', async () => {
    const { world, task } = await withEnded('failed', USAGE);
    await world.clock.advance(HEAD_START_MS + 1);

    await settleFinished(world.deps);

    expect(holdOf(world, task)?.state).toBe('released');
    expect(world.journal.names()).not.toContain('billing.settle');
  });

  test('with usage far above its hold stays uncharged, asks for a decision, and is not retried', async () => {
    const { world, task } = await withEnded('completed', USAGE);
    world.billing.overrun.add(task.id);
    await world.clock.advance(HEAD_START_MS + 1);

    await settleFinished(world.deps);
    await settleFinished(world.deps);

    expect(holdOf(world, task)?.state).toBe('held');
    expect(await world.deps.store.listOpenAttention()).toMatchObject([{ taskId: task.id, reason: 'overrun' }]);
    expect(world.journal.names().filter((name) => name === 'billing.settle')).toHaveLength(1);
  });
});

test('the hold of a create that was refused while billing was down is released later', async () => {
  const world = await open();
  world.upstream.answer('main', refused('content'));
  world.journal.fail('billing.releaseHold', new Error('billing is away'), 2);
  await expect(world.create()).rejects.toMatchObject({ reason: 'content_rejected' });
  await world.clock.advance(HEAD_START_MS + 1);

  expect(await settleFinished(world.deps)).toBe(0);
  expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held']);

  await world.clock.advance(1001);
  expect(await settleFinished(world.deps)).toBe(1);
  expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
});

test('a task that cannot be settled delays no other', async () => {
  const { world, task } = await withEnded('completed');
  const other = (await world.create()).task;
  await world.deps.store.finish(other.id, { state: 'completed', at: world.clock.now() });
  await world.clock.advance(HEAD_START_MS + 1);
  world.journal.fail('billing.settle', new Error('billing is away'));

  expect(await settleFinished(world.deps)).toBe(1);

  expect([holdOf(world, task)?.state, holdOf(world, other)?.state].toSorted()).toEqual(['held', 'settled']);
  expect(await settleFinished(world.deps)).toBe(0);
  await world.clock.advance(1001);
  expect(await settleFinished(world.deps)).toBe(1);
  expect([holdOf(world, task)?.state, holdOf(world, other)?.state]).toEqual(['settled', 'settled']);
});

describe('a settlement that gets no answer', () => {
  /** One task whose settlement hangs until `answer` is called, and another. */
  async function withHanging() {
    const { world, task } = await withEnded('completed');
    const other = (await world.create()).task;
    await world.deps.store.finish(other.id, { state: 'completed', at: world.clock.now() });
    const [begun, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    const settle = world.deps.billing.settle;
    let asked = 0;
    const billing = {
      ...world.deps.billing,
      settle: async (...args: Parameters<typeof settle>) => {
        if (args[0] === task.id) {
          asked += 1;
          begun.resolve(undefined);
          await answered.promise;
        }
        return settle(...args);
      },
    };
    await world.clock.advance(HEAD_START_MS + 1);
    const slow: SlowSettlements = new Map();
    const pass = (): Promise<number> => settleFinished({ ...world.deps, billing }, slow);
    const passOver = async (): Promise<number> => {
      const passed = pass();
      await begun.promise;
      await world.clock.advance(PASS_MS - 1);
      await world.clock.advance(1);
      return passed;
    };
    return { world, task, other, slow, pass, passOver, asked: () => asked, answered };
  }
  const unsettledIn = async ({ deps, clock }: World): Promise<readonly string[]> =>
    (await deps.store.listUnsettled({ before: clock.now(), beyond: Number.MAX_SAFE_INTEGER, limit: 10 })).map(
      ({ id }) => id,
    );

  test('delays neither the mark of another nor the next pass', async () => {
    const { world, task, other, pass, passOver, asked } = await withHanging();

    expect([await passOver(), await unsettledIn(world)]).toEqual([1, [task.id]]);
    expect(holdOf(world, other)?.state).toBe('settled');
    expect([await pass(), asked()]).toEqual([0, 1]);
  });

  test('marks its task when the answer comes, and only then can begin again', async () => {
    const { world, task, slow, pass, passOver, asked, answered } = await withHanging();
    await passOver();

    answered.resolve(undefined);
    await Promise.all(slow.values());

    expect([holdOf(world, task)?.state, await unsettledIn(world), slow.size]).toEqual(['settled', [], 0]);
    expect([await pass(), asked()]).toEqual([0, 1]);
  });

  test('is retried later when it fails at last', async () => {
    const { world, task, slow, pass, passOver, asked, answered } = await withHanging();
    await passOver();

    answered.reject(new Error('no answer came in time'));
    await Promise.all(slow.values());

    expect([await unsettledIn(world), slow.size, await pass(), asked()]).toEqual([[task.id], 0, 0, 1]);
    await world.clock.advance(1001);
    await pass();
    expect(asked()).toBe(2);
  });
});

describe('several finished tasks', () => {
  async function withThree() {
    const { world, task } = await withEnded('completed', USAGE);
    const tasks = [task, (await world.create()).task, (await world.create()).task];
    for (const { id } of tasks.slice(1))
      await world.deps.store.finish(id, { state: 'completed', at: world.clock.now(), usage: USAGE });
    // the events of all but the last one
    for (const { id } of tasks.slice(0, 2)) await world.billing.port.settle(id, USAGE);
    world.journal.clear();
    await world.clock.advance(HEAD_START_MS + 1);
    const calls = (): readonly string[] => world.journal.names().filter((name) => name.startsWith('billing.'));
    return { world, tasks, calls };
  }

  test('are asked about in one call, and only what their events have not settled is settled', async () => {
    const { world, tasks, calls } = await withThree();

    expect(await settleFinished(world.deps)).toBe(3);

    expect(calls()).toEqual(['billing.findEnded', 'billing.settle']);
    expect(tasks.map((task) => holdOf(world, task)?.state)).toEqual(['settled', 'settled', 'settled']);
    expect(await settleFinished(world.deps)).toBe(0);
  });

  test('are settled one by one if that call fails', async () => {
    const { world, calls } = await withThree();
    world.journal.fail('billing.findEnded', new Error('billing is away'));

    expect(await settleFinished(world.deps)).toBe(3);

    expect(calls()).toEqual(['billing.findEnded', 'billing.settle', 'billing.settle', 'billing.settle']);
  });

  test('with one whose usage is far above its hold ask for a decision about that one', async () => {
    const { world, tasks } = await withThree();
    const [, , last] = tasks;
    world.billing.overrun.add(last!.id);

    expect(await settleFinished(world.deps)).toBe(3);

    expect(await world.deps.store.listOpenAttention()).toMatchObject([{ taskId: last!.id, reason: 'overrun' }]);
  });
});

test('an unfinished task is not settled', async () => {
  const world = await open();
  await world.create();
  await world.clock.advance(1e9);

  expect(await settleFinished(world.deps)).toBe(0);
});

test('tasks that can never be settled, enough to fill every pass, block no other', async () => {
  const { world, task } = await withEnded('completed');
  for (const id of numbered(250)) await completed(world.deps.store, id, { at: world.clock.now() - 1000, caps: [] });
  const settle = world.deps.billing.settle;
  const billing = {
    ...world.deps.billing,
    settle: async (...args: Parameters<typeof settle>) => {
      if (args[0] !== task.id) throw new Error('this hold is not known');
      return settle(...args);
    },
  };
  await world.clock.advance(HEAD_START_MS + 1);

  let settled = 0;
  for (let pass = 0; pass < 4; pass += 1) settled += await settleFinished({ ...world.deps, billing });

  expect([settled, holdOf(world, task)?.state]).toEqual([1, 'settled']);
});

test('a failed settlement is retried at growing intervals, and still after a day', async () => {
  const { world, task } = await withEnded('completed');
  world.journal.fail('billing.settle', new Error('billing is away'), 1_000_000);
  const asked = (): number => world.journal.names().filter((name) => name === 'billing.settle').length;
  for (let second = 0; second < 3600; second += 1) {
    await world.clock.advance(1000);
    await settleFinished(world.deps);
  }

  expect(asked()).toBeGreaterThan(15);
  expect(asked()).toBeLessThan(30);
  expect(holdOf(world, task)?.state).toBe('held');
});

test('setting the clock back by hours delays no settlement by hours', async () => {
  const { world, task } = await withEnded('completed');
  await world.clock.advance(-5 * 3600 * 1000);

  expect(await settleFinished(world.deps)).toBe(1);
  expect(holdOf(world, task)?.state).toBe('settled');
});

test('the settlement of a refused create retries the removal of staged media after it releases the hold', async () => {
  const world = await open();
  world.upstream.answer('main', refused('content'));
  world.journal.fail('media.removeStaged', new Error('media is away'), 2);
  await expect(world.create(anOrder({ content: [aText(), anImage('first_frame')] }))).rejects.toMatchObject({
    reason: 'content_rejected',
  });
  const [task] = await world.deps.store.list({ hidden: true }, { limit: 1 });
  expect([holdOf(world, task!)?.state, world.media.unstaged]).toEqual(['released', []]);

  const settled: number[] = [];
  for (let pass = 0; pass < 3; pass += 1) {
    await world.clock.advance(60_000);
    settled.push(await settleFinished(world.deps));
  }
  expect([settled, world.media.unstaged]).toEqual([[0, 1, 0], [task!.id]]);
});
