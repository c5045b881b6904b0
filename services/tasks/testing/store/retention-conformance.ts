import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, accepted, begun, completed, idsOf, numbered, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const LATER = AT + 1e9;
const ROOMY = { caps: [{ scope: 'total', limit: 1000 }] };
const HOUR_MS = 3_600_000;

/** The removal of old tasks, and the tasks that stay. */
export function retentionConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ store, other, sql } = await open());
  });
  const settled = async (id: string, changes: Parameters<typeof completed>[2] = {}): Promise<void> => {
    await completed(store, id, { ...ROOMY, ...changes });
    await store.markSettled([id], AT);
  };
  const remove = (before = LATER, limit = 100, by = store): Promise<number> =>
    by.removeFinished({ before, now: LATER, limit });
  const left = async (): Promise<string[]> =>
    idsOf(await store.list({ hidden: true }, { limit: 1000, ascending: true }));
  const rows = async (table: string): Promise<number> =>
    Number((await sql.read(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.['count']);

  describe('removeFinished', () => {
    test('removes a settled task with everything that belongs to it', async () => {
      await settled('task_1', { idempotency: { key: 'k', fingerprint: 'f', expiresAt: AT + 1 } });
      await store.raise({ taskId: 'task_1', reason: 'overrun', detail: '', since: AT });
      await store.resolve('task_1', { resolution: 'completed', actor: 'ann', at: AT });

      expect(await remove()).toBe(1);

      expect(await store.find('task_1')).toBeUndefined();
      for (const table of ['tasks', 'attempts', 'task_events', 'attention', 'idempotency_keys'])
        expect([table, await rows(table)]).toEqual([table, 0]);
    });

    test('removes deleted and refused tasks too', async () => {
      await settled('task_deleted');
      await store.remove('task_deleted', AT);
      await begun(store, 'task_refused');
      await store.refuse('task_refused', { code: 'x', message: 'y' }, AT);
      await store.markSettled(['task_refused'], AT);

      expect(await remove()).toBe(2);
    });

    test('removes the oldest first, up to the limit, and no task that ended later', async () => {
      await settled('task_3', { at: AT + 3 });
      await settled('task_1', { at: AT + 1 });
      await settled('task_2', { at: AT + 2 });
      await settled('task_new', { at: AT + 50 });

      expect(await remove(AT + 50, 2)).toBe(2);
      expect(await left()).toEqual(['task_3', 'task_new']);
      expect(await remove(AT + 50, 2)).toBe(1);
      expect(await remove(AT + 50, 2)).toBe(0);
      expect(await left()).toEqual(['task_new']);
    });

    test('keeps unfinished and unsettled tasks with everything that belongs to them', async () => {
      await accepted(store, 'task_alive', ROOMY);
      await begun(store, 'task_submitting', ROOMY);
      await completed(store, 'task_unsettled', ROOMY);
      const written = await rows('task_events');

      expect(await remove()).toBe(0);

      expect(await left()).toEqual(['task_alive', 'task_submitting', 'task_unsettled']);
      expect(await rows('task_events')).toBe(written);
    });

    test('keeps a task that waits for a decision until it is made', async () => {
      await settled('task_1');
      await store.raise({ taskId: 'task_1', reason: 'overrun', detail: '', since: AT });
      expect(await remove()).toBe(0);

      await store.resolve('task_1', { resolution: 'completed', actor: 'ann', at: AT });
      expect(await remove()).toBe(1);
    });

    test('keeps a task with a live idempotency key', async () => {
      await settled('task_1', { idempotency: { key: 'k', fingerprint: 'f', expiresAt: LATER + 1 } });

      expect(await remove()).toBe(0);
      expect(await store.findKey('acme', 'k', LATER)).toMatchObject({ taskId: 'task_1' });
    });

    test('keeps a task whose upstream work a lost task could otherwise adopt', async () => {
      await unknown(store, 'task_lost', { ...ROOMY, createdAt: AT });
      await settled('task_same_time');
      await settled('task_before', { createdAt: AT - HOUR_MS, at: AT - HOUR_MS + 1000 });
      expect(await remove()).toBe(1);
      expect(await left()).toEqual(['task_lost', 'task_same_time']);

      await store.finish('task_lost', { state: 'failed', at: AT });
      expect(await remove()).toBe(1);
    });

    test('removes each task once in two concurrent processes', async () => {
      for (const id of numbered(40)) await settled(id);

      const taken = await Promise.all([
        remove(LATER, 10),
        remove(LATER, 10, other),
        remove(LATER, 10),
        remove(LATER, 10, other),
      ]);

      const removed = taken.reduce((sum, count) => sum + count, 0);
      expect(await left()).toHaveLength(40 - removed);
      expect(removed).toBeGreaterThan(0);
    });
  });

  describe('removeKeys', () => {
    test('removes expired keys, up to the limit, and no others', async () => {
      for (const [index, id] of ['task_1', 'task_2', 'task_3'].entries()) {
        await begun(store, id, { ...ROOMY, idempotency: { key: id, fingerprint: 'f', expiresAt: AT + index } });
      }

      expect(await store.removeKeys(AT + 1, 1)).toBe(1);
      expect(await store.removeKeys(AT + 1, 10)).toBe(1);
      expect(await other.removeKeys(AT + 1, 10)).toBe(0);
      expect(await store.findKey('acme', 'task_3', AT + 1)).toMatchObject({ taskId: 'task_3' });
      expect(await left()).toHaveLength(3);
    });
  });
}
