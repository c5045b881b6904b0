import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ListFilter, Page, TaskStore } from '../../src/store/task-store.ts';
import { aContextIr, anOrder } from '../orders.ts';
import { AT, accepted, begun, completed, idsOf, numbered, started, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

/** The reads of owners, sweeps and operators. */
export function readsConformance(open: OpenStore): void {
  let store: TaskStore;
  beforeEach(async () => {
    ({ store } = await open());
  });
  const list = async (filter: ListFilter, page: Partial<Page> = {}): Promise<string[]> =>
    idsOf(await store.list(filter, { limit: 100, ...page }));

  describe('an owner', () => {
    test('finds its own tasks that an upstream has or may have, and no others', async () => {
      await accepted(store, 'task_accepted');
      await unknown(store, 'task_unknown');
      await started(store, 'task_submitting');
      await accepted(store, 'task_foreign', { accountId: 'rival' });

      const found = await Promise.all(
        ['task_accepted', 'task_unknown', 'task_submitting', 'task_foreign', 'task_none'].map((id) =>
          store.findOwned('acme', id),
        ),
      );

      expect(found.map((task) => task?.id)).toEqual(['task_accepted', 'task_unknown', undefined, undefined, undefined]);
    });

    test('lists its own tasks, newest first or oldest first', async () => {
      for (const id of ['task_1', 'task_2', 'task_3']) await accepted(store, id);
      await accepted(store, 'task_4', { accountId: 'rival' });
      await begun(store, 'task_5');

      expect(await list({ accountId: 'acme' })).toEqual(['task_3', 'task_2', 'task_1']);
      expect(await list({ accountId: 'acme' }, { ascending: true })).toEqual(['task_1', 'task_2', 'task_3']);
      expect(await store.count({ accountId: 'acme' })).toBe(3);
    });

    test('pages by the last task or by an offset', async () => {
      for (const id of ['task_1', 'task_2', 'task_3', 'task_4', 'task_5']) await accepted(store, id);

      expect(await list({ accountId: 'acme' }, { limit: 2 })).toEqual(['task_5', 'task_4']);
      expect(await list({ accountId: 'acme' }, { limit: 2, after: 'task_4' })).toEqual(['task_3', 'task_2']);
      expect(await list({ accountId: 'acme' }, { limit: 2, after: 'task_2', ascending: true })).toEqual([
        'task_3',
        'task_4',
      ]);
      expect(await list({ accountId: 'acme' }, { limit: 2, offset: 3 })).toEqual(['task_2', 'task_1']);
      expect(await list({ accountId: 'acme' }, { after: 'task_1' })).toEqual([]);
    });

    test('filters by state, ids, model and kind, together too', async () => {
      await accepted(store, 'task_1');
      await completed(store, 'task_2');
      await accepted(store, 'task_3', { order: aContextIr() });
      await accepted(store, 'task_4', { order: anOrder({ model: 'Other-V1' }) });
      const owned = { accountId: 'acme' };

      expect(await list({ ...owned, states: ['completed', 'failed'] })).toEqual(['task_2']);
      expect(await list({ ...owned, states: [] })).toHaveLength(4);
      expect(await list({ ...owned, taskIds: ['task_1', 'task_4', 'task_none'] })).toEqual(['task_4', 'task_1']);
      expect(await list({ ...owned, model: 'Other-V1' })).toEqual(['task_4']);
      expect(await list({ ...owned, kind: 'context_ir' })).toEqual(['task_3']);
      expect(await list({ ...owned, kind: 'generation', states: ['queued'], model: 'Alpha-H3' })).toEqual(['task_1']);
      expect(await store.count({ ...owned, kind: 'generation' })).toBe(3);
    });
  });

  test('operators see the tasks that owners do not', async () => {
    await begun(store, 'task_1');
    await store.refuse('task_1', { code: 'x', message: 'y' }, AT);
    await begun(store, 'task_2');
    await completed(store, 'task_3', { accountId: 'rival' });
    await store.remove('task_3', AT);

    expect(await list({ hidden: true })).toEqual(['task_3', 'task_2', 'task_1']);
    expect(await list({ hidden: true, accountId: 'acme' })).toEqual(['task_2', 'task_1']);
  });

  describe('creates of dead processes', () => {
    test('are the creates of the named processes and of those without a heartbeat', async () => {
      for (const owner of ['proc_alive', 'proc_dead']) await store.heartbeat(owner, AT);
      await begun(store, 'task_1', { owner: 'proc_alive' });
      await begun(store, 'task_2', { owner: 'proc_dead' });
      await begun(store, 'task_3', { owner: 'proc_forgotten' });
      await accepted(store, 'task_4', { owner: 'proc_dead' });

      expect(idsOf(await store.listAbandoned(['proc_dead', 'proc_other'], 10))).toEqual(['task_2', 'task_3']);
      expect(idsOf(await store.listAbandoned([], 10))).toEqual(['task_3']);
      expect(idsOf(await store.listAbandoned(['proc_dead'], 1))).toEqual(['task_2']);
    });

    test('of one process are listed by their ids while they are under submission', async () => {
      await begun(store, 'task_1', { owner: 'proc_1' });
      await begun(store, 'task_2', { owner: 'proc_2' });
      await accepted(store, 'task_3', { owner: 'proc_1' });

      expect(await store.listOwnedCreateIds('proc_1', 10)).toEqual(['task_1']);
      expect(await store.listOwnedCreateIds('proc_1', 0)).toEqual([]);
    });

    test('include the creates that were taken from their process', async () => {
      await store.heartbeat('proc_alive', AT);
      await begun(store, 'task_1', { owner: 'proc_alive' });
      await store.disown('task_1');

      expect(idsOf(await store.listAbandoned([], 10))).toEqual(['task_1']);
    });
  });

  test('tasks of an admission are read in pages, each task once', async () => {
    for (const id of numbered(5)) await unknown(store, id);
    await unknown(store, 'task_ended');
    await store.finish('task_ended', { state: 'failed', at: AT });
    await begun(store, 'task_submitting');

    expect(idsOf(await store.listWithAdmission('unknown', { limit: 3, after: '' }))).toEqual([
      'task_000',
      'task_001',
      'task_002',
    ]);
    expect(idsOf(await store.listWithAdmission('unknown', { limit: 3, after: 'task_002' }))).toEqual([
      'task_003',
      'task_004',
    ]);
    expect(idsOf(await store.listWithAdmission('submitting', { limit: 3, after: '' }))).toEqual(['task_submitting']);
  });

  test('unsettled tasks are those that ended long enough ago, with refused creates, the oldest first', async () => {
    await completed(store, 'task_2', { at: AT + 2 });
    await completed(store, 'task_1', { at: AT + 1 });
    await completed(store, 'task_new', { at: AT + 100 });
    await begun(store, 'task_refused');
    await store.refuse('task_refused', { code: 'x', message: 'y' }, AT + 3);
    await accepted(store, 'task_alive');

    expect(idsOf(await store.listUnsettled({ before: AT + 50, beyond: AT + 1000, limit: 10 }))).toEqual([
      'task_1',
      'task_2',
      'task_refused',
    ]);
    expect(idsOf(await store.listUnsettled({ before: AT + 50, beyond: AT + 1000, limit: 1 }))).toEqual(['task_1']);
    expect(idsOf(await store.listUnsettled({ before: AT, beyond: AT + 50, limit: 10 }))).toEqual(['task_new']);
  });

  test('upstream ids are looked up by upstream account', async () => {
    await accepted(store, 'task_1');

    expect(await store.findKnownUpstreamIds('vendor', ['up-task_1', 'up-none'])).toEqual(new Set(['up-task_1']));
    expect(await store.findKnownUpstreamIds('rival', ['up-task_1'])).toEqual(new Set());
    expect(await store.findKnownUpstreamIds('vendor', [])).toEqual(new Set());
  });

  test('an unused counter is at zero', async () => {
    expect(await store.inFlight('channel:none')).toBe(0);
  });
}
