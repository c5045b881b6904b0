import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, succeeded } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import type { PollResult } from '../../channels/channel.ts';
import type { Task } from '../../domain/task.ts';
import { applyReport } from '../polls/apply-report.ts';
import { cancelTask } from './cancel-task.ts';

const open = useWorlds();
const signal = new AbortController().signal;
const refusal = { kind: 'conflict', reason: 'task_not_cancellable' };

async function withTask() {
  const world = await open();
  world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'queued', status: 'queued' } });
  return { world, task: (await world.create()).task };
}

const cancel = ({ deps }: World, { id }: Task, accountId = 'acme'): Promise<Task> =>
  cancelTask(deps, accountId, id, signal);

describe('cancel', () => {
  test('ends a queued task when its upstream confirms it', async () => {
    const { world, task } = await withTask();

    expect(await cancel(world, task)).toMatchObject({
      state: 'failed',
      failure: { code: 'cancelled' },
      upstreamStatus: 'cancelled',
    });

    expect(world.journal.calls.find(({ name }) => name === 'main.cancel')?.args[0]).toBe('up-1');
    expect(await world.sql.read('SELECT id FROM outbox')).toEqual([{ id: task.id }]);
    expect(await world.deps.store.inFlight('total')).toBe(0);
  });

  test('leaves a task alone that its upstream does not confirm, and polls it soon', async () => {
    const { world, task } = await withTask();
    world.upstream.cancels = false;

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued', nextPollAt: world.clock.now() });
  });

  test.each<[string, (world: World, task: Task) => Promise<unknown>]>([
    ['runs', ({ deps }, task) => applyReport(deps, task, { phase: 'running', status: 'running' })],
    ['has ended', ({ deps }, task) => deps.store.finish(task.id, { state: 'completed', at: 1 })],
    ['has an unknown status', ({ deps }, task) => applyReport(deps, task, { phase: 'unrecognised', status: 'paused' })],
  ])('does not ask the upstream when the task %s', async (_what, prepare) => {
    const { world, task } = await withTask();
    await prepare(world, task);

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(world.journal.names()).not.toContain('main.cancel');
  });

  test.each<[string, PollResult]>([
    ['has ended upstream', succeeded()],
    ['runs upstream', { found: true, report: { phase: 'running', status: 'running' } }],
    ['cannot be polled', { found: false, gone: false, error: 'HTTP 500' }],
  ])(
    'does not ask for a task that %s and is not known to: the same call would remove a result',
    async (_what, polled) => {
      const { world, task } = await withTask();
      world.upstream.pollResults.set('up-1', polled);

      await expect(cancel(world, task)).rejects.toMatchObject(refusal);

      expect(world.journal.names()).not.toContain('main.cancel');
      expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued', nextPollAt: world.clock.now() });
    },
  );

  test('counts its poll among those of the channel, and is refused with a time to wait when none is left', async () => {
    const world = await open({ channels: [channelSettings({ pollsPerMinute: 1 })] });
    world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'queued', status: 'queued' } });
    world.upstream.cancels = false;
    const { task } = await world.create();
    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    await expect(cancel(world, task)).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'rate_limit_exceeded',
      retryAfterMs: 60_000,
    });
    expect(world.journal.names().filter((name) => name === 'main.poll')).toHaveLength(1);

    await world.clock.advance(60_000);
    world.upstream.cancels = true;
    expect(await cancel(world, task)).toMatchObject({ failure: { code: 'cancelled' } });
  });

  test('does not ask for a task whose submission is unknown', async () => {
    const world = await open();
    world.upstream.answer('main', LOST);
    const { task } = await world.create();

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(world.journal.names()).not.toContain('main.cancel');
  });

  test('loses against an end that comes first, and tells the truth', async () => {
    const { world, task } = await withTask();
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'main.cancel') await world.deps.store.finish(task.id, { state: 'completed', at: 1 });
      return proceed();
    });

    await expect(cancel(world, task)).rejects.toMatchObject({
      ...refusal,
      message: expect.stringContaining('completed'),
    });

    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'completed' });
  });

  test('agrees with a poll that saw the cancellation first', async () => {
    const { world, task } = await withTask();
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'main.cancel')
        await world.deps.store.finish(task.id, {
          state: 'failed',
          at: 1,
          failure: { code: 'cancelled', message: 'as the upstream says' },
        });
      return proceed();
    });

    expect(await cancel(world, task)).toMatchObject({ state: 'failed', failure: { code: 'cancelled' } });
  });

  test('tells another account that there is no such task, and calls no upstream', async () => {
    const { world, task } = await withTask();

    await expect(cancel(world, task, 'rival')).rejects.toMatchObject({ kind: 'not_found', reason: 'task_not_found' });

    expect(world.journal.names()).not.toContain('main.cancel');
    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued' });
  });

  test('refuses where the channel is no longer known', async () => {
    const {
      world: { deps },
      task,
    } = await withTask();

    await expect(
      cancelTask({ ...deps, channels: { ...deps.channels, find: () => undefined } }, 'acme', task.id, signal),
    ).rejects.toMatchObject(refusal);
  });
});
