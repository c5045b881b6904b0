import { beforeEach, expect, test } from '@jest/globals';
import type { SelfCheckStore } from '../../src/store/backlog-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { sqlSelfChecks } from '../../src/store/tasks/sql-backlog.ts';
import { AT, accepted, begun, completed, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

/** What an operator asks about all tasks. */
export function selfChecksConformance(open: OpenStore): void {
  let store: TaskStore;
  let checks: SelfCheckStore;
  beforeEach(async () => {
    const opened = await open();
    store = opened.store;
    checks = sqlSelfChecks(opened.sql);
  });

  test('the late tasks are the unfinished ones of before that do not wait for a person, the oldest first', async () => {
    await accepted(store, 'task_marked', { createdAt: AT - 500, channel: 'second' });
    await store.passDeadline('task_marked', 'soft', AT);
    await unknown(store, 'task_unknown', { createdAt: AT - 700 });
    await begun(store, 'task_submitting', { createdAt: AT - 100 });
    await accepted(store, 'task_new');
    await completed(store, 'task_ended', { createdAt: AT - 900 });
    await accepted(store, 'task_raised', { createdAt: AT - 800 });
    await store.raise({ taskId: 'task_raised', reason: 'unknown_status', detail: '', since: AT });
    await accepted(store, 'task_hard', { createdAt: AT - 1000 });
    await store.passDeadline('task_hard', 'hard', AT);

    expect(await checks.lateTasks(AT)).toEqual({
      count: 3,
      isAtLeast: false,
      oldest: [
        { id: 'task_unknown', channel: 'main', createdAt: AT - 700, isUnknown: true },
        { id: 'task_marked', channel: 'second', createdAt: AT - 500, isUnknown: false },
        { id: 'task_submitting', channel: undefined, createdAt: AT - 100, isUnknown: false },
      ],
    });
    await store.resolve('task_raised', { resolution: 'retry', actor: 'ann', at: AT });
    expect((await checks.lateTasks(AT)).oldest[0]?.id).toBe('task_raised');
    expect(await checks.lateTasks(AT - 700)).toMatchObject({ count: 1 });
    expect(await checks.lateTasks(AT - 800)).toEqual({ count: 0, isAtLeast: false, oldest: [] });
  });

  test('a few of many late tasks are named', async () => {
    for (const index of [4, 2, 3, 1]) await accepted(store, `task_${index}`, { createdAt: AT - 100 + index });

    const { count, oldest } = await checks.lateTasks(AT);
    expect([count, oldest.map(({ id }) => id)]).toEqual([4, ['task_1', 'task_2', 'task_3']]);
  });
}
