import { beforeEach, expect, test } from '@jest/globals';
import type { BacklogStore } from '../../src/store/backlog-store.ts';
import { sqlBacklog } from '../../src/store/tasks/sql-backlog.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, accepted, begun, completed } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const claim = { leaseUntil: AT + 60_000, limit: 1, owner: 'proc_1' };

/** The numbers over all tasks that the metrics show. */
export function backlogConformance(open: OpenStore): void {
  let store: TaskStore;
  let backlog: BacklogStore;
  beforeEach(async () => {
    const opened = await open();
    store = opened.store;
    backlog = sqlBacklog(opened.sql);
  });

  test('a backlog counts unfinished tasks by state and channel, before the first attempt without one', async () => {
    await begun(store, 'task_0');
    await accepted(store, 'task_1');
    await accepted(store, 'task_2');
    await accepted(store, 'task_3', { channel: 'second' });
    await completed(store, 'task_4');
    await store.progress('task_2', 'queued', {
      state: 'in_progress',
      unrecognised: false,
      progress: 10,
      pollErrors: 0,
      nextPollAt: AT,
      at: AT,
    });

    expect((await backlog.openTasks()).map(({ channel, state, count }) => [channel, state, count])).toEqual(
      expect.arrayContaining([
        [undefined, 'queued', 1],
        ['main', 'queued', 1],
        ['main', 'in_progress', 1],
        ['second', 'queued', 1],
      ]),
    );
    expect(await backlog.openTasks()).toHaveLength(4);
  });

  test('a backlog knows since when the oldest due task of each channel waits, unless it is being polled', async () => {
    await accepted(store, 'task_1', { nextPollAt: AT - 9000 });
    await accepted(store, 'task_2', { nextPollAt: AT - 5000 });
    await accepted(store, 'task_3', { channel: 'second', nextPollAt: AT + 1 });
    const channels = ['main', 'second', 'third'];

    expect(await backlog.dueSince(channels, AT)).toEqual(new Map([['main', AT - 9000]]));
    await store.claimDue('main', { ...claim, now: AT });
    expect(await backlog.dueSince(channels, AT)).toEqual(new Map([['main', AT - 5000]]));
    await store.claimDue('main', { ...claim, now: AT });
    expect(await backlog.dueSince(channels, AT)).toEqual(new Map());
    expect(await backlog.dueSince(channels, AT + 60_000)).toEqual(
      new Map([
        ['main', AT - 9000],
        ['second', AT + 1],
      ]),
    );
    expect(await backlog.dueSince([], AT)).toEqual(new Map());
  });

  test('a backlog counts a call of the upstream from its time, not from the place in the queue that it gives', async () => {
    const now = AT + 30 * 24 * 3600 * 1000;
    await accepted(store, 'task_1', { nextPollAt: now + 15_000 });
    await store.pollSoon('task_1', now - 2000);

    expect(await backlog.dueSince(['main'], now)).toEqual(new Map([['main', now - 2000]]));
  });

  test('a backlog knows the channels of a large configuration', async () => {
    const channels = Array.from({ length: 70 }, (_, index) => `channel-${index}`);
    for (const index of [0, 31, 32, 69])
      await accepted(store, `task_${index}`, { channel: channels[index]!, nextPollAt: AT - index });

    expect(await backlog.dueSince(channels, AT)).toEqual(
      new Map([0, 31, 32, 69].map((index) => [channels[index], AT - index])),
    );
  });

  test('a backlog knows how much waits for a person, and since when', async () => {
    expect(await backlog.countAttention()).toEqual({ count: 0, oldest: undefined });
    for (const [id, since] of [['task_1', AT + 5] as const, ['task_2', AT] as const, ['task_3', AT - 5] as const]) {
      await accepted(store, id);
      await store.raise({ taskId: id, reason: 'unknown_status', detail: '', since });
    }
    await store.resolve('task_3', { resolution: 'retry', actor: 'ann', at: AT });

    expect(await backlog.countAttention()).toEqual({ count: 2, oldest: AT });
  });

  test('a backlog knows the oldest end that is not settled, also one whose settlement was put off', async () => {
    expect((await backlog.countUnsettled()).oldest).toBeUndefined();
    await completed(store, 'task_1', { at: AT + 1 });
    await completed(store, 'task_2', { at: AT + 2 });
    await store.putOffSettlement('task_1', AT + 100_000);

    expect((await backlog.countUnsettled()).oldest).toBe(AT + 1);
    await store.markSettled(['task_1'], AT + 3);
    expect((await backlog.countUnsettled()).oldest).toBe(AT + 2);
  });
}
