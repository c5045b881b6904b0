import { describe, expect, test } from '@jest/globals';
import { LOST } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import type { Task } from '../../domain/task.ts';
import { settleFinished } from '../../workers/settle-finished.ts';
import { raiseAttention } from '../ends/raise-attention.ts';
import { resolveAttention } from './resolve-attention.ts';
import type { Resolution } from './resolve-attention.ts';

const open = useWorlds();
const MINUTE_MS = 60_000;
const USAGE = { totalSeconds: 500 };

const resolve = ({ deps }: World, { id }: Task, resolution: Resolution): Promise<Task> =>
  resolveAttention(deps, id, { resolution, actor: 'ann', reason: '' });
/** The decisions that were recorded as acts, each by one person. */
const actsOn = async ({ sql }: World, { id }: Task): Promise<readonly Resolution[]> =>
  (await sql.read('SELECT detail_json FROM operator_acts WHERE subject = $1', [id])).map(
    (row) => (JSON.parse(String(row['detail_json'])) as { resolution: Resolution }).resolution,
  );
const holdOf = ({ billing }: World, { id }: Task) => billing.holds.get(id);

/** An unfinished task that waits for a decision. */
async function withWaiting(lost = false) {
  const world = await open();
  if (lost) world.upstream.answer('main', LOST);
  const { task } = await world.create();
  await raiseAttention(world.deps, task, lost ? 'unknown_outcome' : 'unknown_status', 'why');
  return { world, task };
}

/** A completed task whose usage is far above its hold. */
async function withOverrun() {
  const world = await open();
  const { task } = await world.create();
  world.billing.overrun.add(task.id);
  await world.deps.store.finish(task.id, { state: 'completed', at: world.clock.now(), usage: USAGE });
  await world.clock.advance(MINUTE_MS);
  await settleFinished(world.deps);
  expect(await world.deps.store.isWaiting(task.id)).toBe(true);
  return { world, task };
}

describe('a decision on an unfinished task', () => {
  test.each<[Resolution, boolean, object]>([
    ['completed', false, { state: 'completed', progress: 100 }],
    ['completed', true, { state: 'completed', progress: 100 }],
    ['failed', false, { state: 'failed', failure: { code: 'operator' } }],
    ['failed', true, { state: 'failed', failure: { code: 'operator' } }],
  ])('as %s ends it once, with its event (submission unknown: %s)', async (resolution, lost, end) => {
    const { world, task } = await withWaiting(lost);

    expect(await resolve(world, task, resolution)).toMatchObject(end);

    expect(await world.sql.read('SELECT id FROM outbox')).toEqual([{ id: task.id }]);
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
    expect(await world.deps.store.events(task.id)).toContainEqual(
      expect.objectContaining({ type: 'attention_resolved', detailJson: JSON.stringify({ resolution, actor: 'ann' }) }),
    );
    expect(await world.deps.store.inFlight('total')).toBe(0);
  });

  test.each<[Resolution, string]>([
    ['completed', 'settled'],
    ['failed', 'released'],
  ])('as %s lets the sweep leave its hold %s', async (resolution, state) => {
    const { world, task } = await withWaiting();
    await resolve(world, task, resolution);

    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);

    expect(holdOf(world, task)?.state).toBe(state);
  });

  test('as retry makes it due at once, and changes nothing else', async () => {
    const { world, task } = await withWaiting();

    expect(await resolve(world, task, 'retry')).toMatchObject({ state: 'queued', nextPollAt: world.clock.now() });

    expect(await world.deps.store.listOpenAttention()).toEqual([]);
    expect(holdOf(world, task)?.state).toBe('held');
  });

  test('as retry after a lost answer submits nothing', async () => {
    const { world, task } = await withWaiting(true);

    expect(await resolve(world, task, 'retry')).toMatchObject({ admission: 'unknown', state: 'queued' });

    expect(world.upstream.submitted).toHaveLength(1);
  });
});

describe('a decision that the store fails to write', () => {
  test.each<[Resolution, string]>([
    ['completed', 'store.finish'],
    ['failed', 'store.finish'],
    ['retry', 'store.makeDue'],
  ])('as %s leaves the task waiting, and is made again without harm', async (resolution, call) => {
    const { world, task } = await withWaiting();
    world.journal.fail(call, new Error('the store is away'));

    await expect(resolve(world, task, resolution)).rejects.toThrow('the store is away');

    expect(await world.deps.store.isWaiting(task.id)).toBe(true);
    await resolve(world, task, resolution);
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
    expect(await actsOn(world, task)).toHaveLength(1);
  });
});

describe('decisions of two persons at the same moment', () => {
  test.each<[Resolution, Resolution]>([
    ['completed', 'failed'],
    ['failed', 'completed'],
    ['failed', 'retry'],
    ['retry', 'failed'],
  ])('over an unfinished task, as %s and as %s, are one act that its end agrees with', async (one, other) => {
    const { world, task } = await withWaiting();

    const made = await Promise.allSettled([resolve(world, task, one), resolve(world, task, other)]);

    const [act, ...more] = await actsOn(world, task);
    const { state } = (await world.deps.store.find(task.id))!;
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(more).toEqual([]);
    expect(state).toBe({ completed: 'completed', failed: 'failed', retry: 'queued' }[act!]);
  });

  test.each<[Resolution, Resolution]>([
    ['completed', 'failed'],
    ['failed', 'completed'],
  ])('over an overrun, as %s and as %s, are one act that the money agrees with', async (one, other) => {
    const { world, task } = await withOverrun();

    const made = await Promise.allSettled([resolve(world, task, one), resolve(world, task, other)]);

    const acts = await actsOn(world, task);
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect([acts, holdOf(world, task)?.state]).toEqual([[one], one === 'completed' ? 'settled' : 'released']);
  });

  test.each<[Resolution, Resolution, RegExp]>([
    ['completed', 'failed', /was charged already/],
    ['failed', 'completed', /was released already/],
  ])(
    'over an overrun: after money that moved as %s, %s is refused and the entry stays',
    async (first, second, message) => {
      const { world, task } = await withOverrun();
      // the process ends between the money and the act
      world.journal.fail('store.resolve', new Error('killed'));
      await expect(resolve(world, task, first)).rejects.toThrow('killed');

      await expect(resolve(world, task, second)).rejects.toMatchObject({
        kind: 'conflict',
        reason: 'already_settled',
        message: expect.stringMatching(message),
      });

      expect([await world.deps.store.isWaiting(task.id), await actsOn(world, task)]).toEqual([true, []]);
      await resolve(world, task, first);
      expect(await actsOn(world, task)).toEqual([first]);
    },
  );
});

describe('a decision on usage far above the hold', () => {
  test.each<[Resolution, string]>([
    ['completed', 'settled'],
    ['failed', 'released'],
  ])('as %s leaves its hold %s', async (resolution, state) => {
    const { world, task } = await withOverrun();

    world.journal.clear();

    expect(await resolve(world, task, resolution)).toMatchObject({ state: 'completed' });

    const settled = world.journal.calls.filter(({ name }) => name === 'billing.settle');
    const confirmed = [{ args: [task.id, USAGE, { confirmed: true, channel: 'main' }] }];
    expect(settled).toMatchObject(resolution === 'completed' ? confirmed : []);
    expect(holdOf(world, task)).toMatchObject(resolution === 'completed' ? { state, usage: USAGE } : { state });
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
  });

  test('as retry asks billing again', async () => {
    const { world, task } = await withOverrun();
    world.billing.overrun.clear();

    await resolve(world, task, 'retry');

    expect(holdOf(world, task)?.state).toBe('settled');
  });

  test('as retry is refused while billing defers the charge', async () => {
    const { world, task } = await withOverrun();

    await expect(resolve(world, task, 'retry')).rejects.toMatchObject({ kind: 'conflict' });

    expect(await world.deps.store.isWaiting(task.id)).toBe(true);
    expect(holdOf(world, task)?.state).toBe('held');
  });

  test('that billing fails to carry out leaves the task waiting', async () => {
    const { world, task } = await withOverrun();
    world.journal.fail('billing.settle', new Error('billing is away'));

    await expect(resolve(world, task, 'completed')).rejects.toThrow('billing is away');

    expect(await world.deps.store.isWaiting(task.id)).toBe(true);
  });
});

describe('a decision on a task that does not wait', () => {
  test.each<Resolution>(['completed', 'failed', 'retry'])(
    'as %s is refused, and changes nothing',
    async (resolution) => {
      const world = await open();
      const { task } = await world.create();

      await expect(resolve(world, task, resolution)).rejects.toMatchObject({
        kind: 'conflict',
        reason: 'not_in_attention',
      });

      expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued' });
      expect(holdOf(world, task)?.state).toBe('held');
    },
  );

  test('because it is finished is refused, and moves no money', async () => {
    const world = await open();
    const { task } = await world.create();
    await world.deps.store.finish(task.id, { state: 'completed', at: world.clock.now() });

    await expect(resolve(world, task, 'failed')).rejects.toMatchObject({ reason: 'not_in_attention' });

    expect(holdOf(world, task)?.state).toBe('held');
  });

  test('because it was just decided is refused', async () => {
    const { world, task } = await withWaiting();
    await resolve(world, task, 'failed');

    await expect(resolve(world, task, 'completed')).rejects.toMatchObject({ reason: 'not_in_attention' });
    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'failed' });
  });

  test('because it does not exist is refused as not found', async () => {
    const world = await open();

    await expect(
      resolveAttention(world.deps, 'task_none', { resolution: 'failed', actor: 'ann', reason: '' }),
    ).rejects.toMatchObject({ reason: 'task_not_found' });
  });
});
