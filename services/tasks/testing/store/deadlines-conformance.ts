import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, accepted, begun, completed, eventTypes, idsOf, inFlight, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const SCOPES = ['token:token_1', 'total', 'channel:main'] as const;

/** Tasks past a deadline. */
export function deadlinesConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  beforeEach(async () => {
    ({ store, other } = await open());
  });

  test.each(['soft', 'hard'] as const)(
    'late lists the unfinished tasks past the %s deadline that are not marked, the oldest first',
    async (deadline) => {
      await accepted(store, 'task_1', { createdAt: AT - 100 });
      await unknown(store, 'task_2', { createdAt: AT - 200 });
      await accepted(store, 'task_new');
      await completed(store, 'task_ended', { createdAt: AT - 100 });
      await begun(store, 'task_submitting', { createdAt: AT - 100 });
      await accepted(store, 'task_known', { createdAt: AT - 300 });
      await store.passDeadline('task_known', deadline, AT);

      expect(idsOf(await store.listLate(deadline, AT, 10))).toEqual(['task_2', 'task_1']);
      expect(idsOf(await store.listLate(deadline, AT, 1))).toEqual(['task_2']);
    },
  );

  test('overdue lists the tasks past the hard deadline that wait for no decision', async () => {
    for (const id of ['task_1', 'task_soft', 'task_raised', 'task_ended']) await accepted(store, id);
    await store.passDeadline('task_soft', 'soft', AT);
    for (const id of ['task_1', 'task_raised', 'task_ended']) await store.passDeadline(id, 'hard', AT);
    await store.raise({ taskId: 'task_raised', reason: 'hard_deadline', detail: '', since: AT });
    await store.finish('task_ended', { state: 'failed', at: AT });

    expect(idsOf(await store.listOverdue(10))).toEqual(['task_1']);

    await store.resolve('task_raised', { resolution: 'retry', actor: 'ann', at: AT });
    expect(idsOf(await store.listOverdue(10))).toEqual(['task_1', 'task_raised']);
  });

  describe('passDeadline', () => {
    test('marks each deadline once, the soft one before the hard one', async () => {
      await accepted(store, 'task_1');

      expect([await store.passDeadline('task_1', 'soft', AT), await store.passDeadline('task_1', 'soft', AT)]).toEqual([
        true,
        false,
      ]);
      expect([
        await store.passDeadline('task_1', 'hard', AT),
        await store.passDeadline('task_1', 'hard', AT),
        await store.passDeadline('task_1', 'soft', AT),
      ]).toEqual([true, false, false]);

      expect((await eventTypes(store, 'task_1')).slice(-2)).toEqual(['soft_deadline', 'hard_deadline']);
    });

    test('does nothing to an ended task or one under submission', async () => {
      await completed(store, 'task_1');
      await begun(store, 'task_2');

      expect([await store.passDeadline('task_1', 'hard', AT), await store.passDeadline('task_2', 'hard', AT)]).toEqual([
        false,
        false,
      ]);
      expect(await inFlight(store, 'total')).toEqual([1]);
    });

    test('frees the counters of token and total at the hard deadline, and that of the channel at the end', async () => {
      await accepted(store, 'task_1');
      await accepted(store, 'task_2');
      await store.passDeadline('task_1', 'soft', AT);
      expect(await inFlight(store, ...SCOPES)).toEqual([2, 2, 2]);

      await store.passDeadline('task_1', 'hard', AT);
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1, 2]);

      await store.finish('task_1', { state: 'completed', at: AT });
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1, 1]);
    });

    test('removes the counts once in a race with itself and with the end', async () => {
      await accepted(store, 'task_1');
      await accepted(store, 'task_2');

      await Promise.all([
        store.passDeadline('task_1', 'hard', AT),
        store.finish('task_1', { state: 'failed', at: AT }),
        other.passDeadline('task_1', 'hard', AT),
        other.finish('task_1', { state: 'failed', at: AT }),
      ]);

      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1, 1]);
    });
  });
}
