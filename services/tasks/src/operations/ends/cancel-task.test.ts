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
  test('ends a queued task when its upstream confirms the cancellation', async () => {
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

  test('keeps a task whose cancellation is not confirmed, and polls it soon', async () => {
    const { world, task } = await withTask();
    world.upstream.cancels = false;

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued', nextPollAt: world.clock.now() });
  });

  test.each<[string, (world: World, task: Task) => Promise<unknown>]>([
    ['runs', ({ deps }, task) => applyReport(deps, task, { phase: 'running', status: 'running' })],
    ['has ended', ({ deps }, task) => deps.store.finish(task.id, { state: 'completed', at: 1 })],
    ['has an unknown status', ({ deps }, task) => applyReport(deps, task, { phase: 'unrecognised', status: 'paused' })],
  ])('does not call the upstream when the task %s', async (_what, prepare) => {
    const { world, task } = await withTask();
    await prepare(world, task);

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(world.journal.names()).not.toContain('main.cancel');
  });

  test.each<[string, PollResult]>([
    ['has ended upstream', succeeded()],
    ['runs upstream', { found: true, report: { phase: 'running', status: 'running' } }],
    ['cannot be polled', { found: false, gone: false, error: 'HTTP 500' }],
  ])('does not cancel a task that %s, because the call would remove a result', async (_what, polled) => {
    const { world, task } = await withTask();
    world.upstream.pollResults.set('up-1', polled);

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(world.journal.names()).not.toContain('main.cancel');
    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued', nextPollAt: world.clock.now() });
  });

  test('uses the poll limit of the channel, and is refused with a wait when it is reached', async () => {
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

  test('waits for a poll that is free within seconds', async () => {
    const world = await open({ channels: [channelSettings({ pollsPerMinute: 60 })] });
    world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'queued', status: 'queued' } });
    const { task } = await world.create();
    world.deps.channels.find('main')!.polls.take();

    const cancelled = cancel(world, task);
    await world.clock.advance(999);
    expect(world.journal.names()).not.toContain('main.poll');
    await world.clock.advance(1);

    expect(await cancelled).toMatchObject({ failure: { code: 'cancelled' } });
  });

  test('does not call the upstream for a task with an unknown submission', async () => {
    const world = await open();
    world.upstream.answer('main', LOST);
    const { task } = await world.create();

    await expect(cancel(world, task)).rejects.toMatchObject(refusal);

    expect(world.journal.names()).not.toContain('main.cancel');
  });

  test('loses against an earlier end, and returns that end', async () => {
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

  test('is refused to another account as not found, without a call to the upstream', async () => {
    const { world, task } = await withTask();

    await expect(cancel(world, task, 'rival')).rejects.toMatchObject({ kind: 'not_found', reason: 'task_not_found' });

    expect(world.journal.names()).not.toContain('main.cancel');
    expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'queued' });
  });

  test('is refused when the channel is removed', async () => {
    const {
      world: { deps },
      task,
    } = await withTask();

    await expect(
      cancelTask({ ...deps, channels: { ...deps.channels, find: () => undefined } }, 'acme', task.id, signal),
    ).rejects.toMatchObject(refusal);
  });
});
