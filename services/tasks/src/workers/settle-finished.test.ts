import { describe, expect, test } from '@jest/globals';
import { refused } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../testing/orders.ts';
import { completed, numbered } from '../../testing/store/opened-store.ts';
import type { Task, Usage } from '../domain/task.ts';
import { settleFinished } from './settle-finished.ts';

const open = useWorlds();
const HEAD_START_MS = 3000;
const USAGE: Usage = { totalSeconds: 6, promptTokens: 10, completionTokens: 20 };

async function withEnded(state: 'completed' | 'failed', usage?: Usage) {
  const world = await open();
  const { task } = await world.create();
  await world.deps.store.finish(task.id, { state, at: world.clock.now(), usage });
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
    expect(world.journal.names().filter((name) => name.startsWith('billing.'))).toEqual(['billing.settle']);
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
    expect(await world.deps.store.open()).toMatchObject([{ taskId: task.id, reason: 'overrun' }]);
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
