import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, accepted, eventTypes } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const item = (taskId: string, since = AT) => ({ taskId, reason: 'unknown_status', detail: 'it says "paused"', since });

/** The tasks that wait for a decision, and the living processes. */
export function attentionConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  let sql: Sql;
  const actsOver = async (subject: string): Promise<readonly string[]> =>
    (await sql.read('SELECT actor, reason FROM operator_acts WHERE subject = $1', [subject])).map(
      ({ actor, reason }) => `${String(actor)}: ${String(reason)}`,
    );
  beforeEach(async () => {
    ({ store, other, sql } = await open());
    await accepted(store, 'task_1');
  });

  describe('attention', () => {
    test('is raised once; later reasons leave it in its position', async () => {
      expect(await store.raise(item('task_1'))).toBe(true);
      expect(await store.raise({ ...item('task_1', AT + 5), reason: 'hard_deadline' })).toBe(false);

      expect(await store.listOpenAttention()).toMatchObject([{ ...item('task_1'), since: timestampFromMs(AT) }]);
      expect(await store.isWaiting('task_1')).toBe(true);
      expect((await eventTypes(store, 'task_1')).filter((type) => type === 'attention')).toHaveLength(1);
    });

    test('raised by many at once is raised by one of them', async () => {
      const raised = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? store : other).raise(item('task_1'))),
      );

      expect(raised.filter(Boolean)).toHaveLength(1);
    });

    test('is resolved once, and records who decided', async () => {
      await store.raise(item('task_1'));

      const by = { resolution: 'retry', actor: 'ann', at: AT + 9 };
      expect([await store.resolve('task_1', by), await store.resolve('task_1', by)]).toEqual([true, false]);

      expect(await store.listOpenAttention()).toEqual([]);
      expect(await store.isWaiting('task_1')).toBe(false);
      expect(await store.events('task_1')).toContainEqual({
        at: AT + 9,
        type: 'attention_resolved',
        detailJson: '{"resolution":"retry","actor":"ann"}',
      });
    });

    test('can be raised again with another reason and a later time', async () => {
      await store.raise(item('task_1'));
      await store.resolve('task_1', { resolution: 'retry', actor: 'ann', at: AT });

      expect(await store.raise({ ...item('task_1', AT + 9), reason: 'no_result' })).toBe(true);

      expect(await store.listOpenAttention()).toMatchObject([
        { taskId: 'task_1', reason: 'no_result', since: timestampFromMs(AT + 9) },
      ]);
    });

    test.each(['completed', 'failed'] as const)('is not raised once its task has %s', async (state) => {
      await store.raise(item('task_1'));
      const decision = { resolution: state, actor: 'ann', why: 'it is over' };
      await store.finish('task_1', { state, at: AT, decision });

      expect(await other.raise(item('task_1', AT + 9))).toBe(false);

      expect(await store.listOpenAttention()).toEqual([]);
    });

    test('raised at the moment at which its task ends is over with it', async () => {
      const ids = Array.from({ length: 10 }, (_, index) => `task_ends_${index}`);
      for (const id of ids) await accepted(store, id);

      await Promise.all(
        ids.flatMap((id) => [
          store.finish(id, { state: 'failed', at: AT }),
          other.raise(item(id)),
          store.raise(item(id)),
        ]),
      );

      expect(await store.listOpenAttention()).toEqual([]);
    });

    test('over usage above the hold is raised after the end of its task, and not again after a decision', async () => {
      const overrun = { ...item('task_1'), reason: 'overrun' };
      await store.finish('task_1', { state: 'completed', at: AT });

      expect(await store.raise(overrun)).toBe(true);
      await store.resolve('task_1', { resolution: 'failed', actor: 'ann', at: AT, why: 'it counts wrongly' });

      expect([await other.raise(overrun), await store.isWaiting('task_1')]).toEqual([false, false]);
    });

    test('for one reason is not resolved for another', async () => {
      await store.raise(item('task_1'));
      const by = { resolution: 'repaired', actor: 'service', at: AT };

      expect(await store.resolve('task_1', { ...by, reason: 'no_result' })).toBe(false);
      expect(await store.resolve('task_1', { ...by, reason: 'unknown_status' })).toBe(true);
    });

    test('that was never raised is not resolved', async () => {
      expect(await store.resolve('task_1', { resolution: 'retry', actor: 'ann', at: AT })).toBe(false);
      expect(await store.isWaiting('task_1')).toBe(false);
    });

    test('ends with its task by a decision, in one step and with one act', async () => {
      await store.raise(item('task_1'));
      const decision = { resolution: 'failed', actor: 'ann', why: 'it is lost' };
      const end = { state: 'failed', at: AT + 9, decision } as const;

      const ended = await Promise.all([store.finish('task_1', end), other.finish('task_1', end)]);

      expect(ended.filter((times) => times !== undefined)).toEqual([expect.objectContaining({ hasWaited: true })]);
      expect([await store.listOpenAttention(), await actsOver('task_1')]).toEqual([[], ['ann: it is lost']]);
    });

    test('that another decision has ended leaves its task as it is', async () => {
      await store.raise(item('task_1'));
      await store.resolve('task_1', { resolution: 'retry', actor: 'ann', at: AT, why: 'it goes on' });
      const decision = { resolution: 'failed', actor: 'bob', why: 'it is lost' };

      expect(await store.finish('task_1', { state: 'failed', at: AT + 9, decision })).toBeUndefined();

      expect(await store.find('task_1')).toMatchObject({ state: 'queued' });
      expect(await actsOver('task_1')).toEqual(['ann: it goes on']);
      expect(await sql.read('SELECT id FROM outbox')).toEqual([]);
    });

    test('lists the waiting tasks, the longest first', async () => {
      await accepted(store, 'task_2');
      await store.raise(item('task_1', AT + 2));
      await store.raise(item('task_2', AT + 1));

      expect((await store.listOpenAttention()).map(({ taskId }) => taskId)).toEqual(['task_2', 'task_1']);
    });
  });

  describe('a process', () => {
    test('is known by its last heartbeat', async () => {
      await store.heartbeat('proc_1', AT);
      await other.heartbeat('proc_2', AT + 10);
      await store.heartbeat('proc_1', AT + 20);

      expect(await other.heartbeats()).toEqual(
        new Map([
          ['proc_1', AT + 20],
          ['proc_2', AT + 10],
        ]),
      );
    });

    test('is unknown after its removal', async () => {
      await store.heartbeat('proc_1', AT);

      await store.forget('proc_1');

      expect(await store.heartbeats()).toEqual(new Map());
    });

    test('knows the times at which any process saw that clocks were wrong', async () => {
      await store.noteClockDoubt(AT + 10);
      await other.noteClockDoubt(AT + 20);
      await other.noteClockDoubt(AT + 10);
      await store.noteClockDoubt(AT);

      expect(await store.listClockDoubts(AT + 1)).toEqual([AT + 10, AT + 20]);
    });
  });
}
