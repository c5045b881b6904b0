import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Progress, TaskStore } from '../../src/store/task-store.ts';
import { aContextIr, anOrder } from '../orders.ts';
import { AT, accepted, begun, completed, idsOf, numbered, started, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const LATER = AT + 1000;
const BEGINNING = { at: 0, id: '' };
const SAME: Progress = {
  state: 'in_progress',
  upstreamStatus: 'running',
  unrecognised: false,
  progress: 40,
  pollErrors: 0,
  nextPollAt: LATER + 5000,
  at: LATER,
};

/** The changes that move the time of a task's last change, and the reads that find them. */
export function changesConformance(open: OpenStore): void {
  let store: TaskStore;
  beforeEach(async () => {
    ({ store } = await open());
  });
  const updatedAt = async (id: string): Promise<number | undefined> => (await store.find(id))?.updatedAt;
  /** A task whose last change was at `at`. */
  const changedAt = async (id: string, at: number, changes: Parameters<typeof accepted>[2] = {}): Promise<void> => {
    await accepted(store, id, changes);
    await store.progress(id, 'queued', { ...SAME, at });
  };

  describe('the time of the last change', () => {
    test.each<[string, Partial<Progress>]>([
      ['the state', { state: 'queued' }],
      ['the progress', { progress: 41 }],
      ['an unknown word', { unrecognised: true, upstreamStatus: 'dreaming' }],
    ])('moves when %s changes', async (_what, change) => {
      await accepted(store, 'task_1');
      const from = change.state === 'queued' ? ({ state: 'queued', progress: 0 } as const) : {};
      await store.progress('task_1', 'queued', { ...SAME, ...from, at: AT + 1 });
      const before = (await store.find('task_1'))!;

      const to = change.state === 'queued' ? SAME : { ...SAME, ...change };
      expect(await store.progress('task_1', before.state, to)).toBe(true);

      expect(await updatedAt('task_1')).toBe(LATER);
    });

    test('moves when one unknown word replaces another', async () => {
      await accepted(store, 'task_1');
      await store.progress('task_1', 'queued', { ...SAME, unrecognised: true, upstreamStatus: 'dreaming', at: AT + 1 });

      await store.progress('task_1', 'in_progress', { ...SAME, unrecognised: true, upstreamStatus: 'waking' });

      expect(await updatedAt('task_1')).toBe(LATER);
    });

    test('stays after a poll that shows the owner nothing new', async () => {
      await changedAt('task_1', AT + 1);

      expect(
        await store.progress('task_1', 'in_progress', { ...SAME, upstreamStatus: 'rendering', pollErrors: 1 }),
      ).toBe(true);

      expect(await store.find('task_1')).toMatchObject({
        updatedAt: AT + 1,
        upstreamStatus: 'rendering',
        pollErrors: 1,
        nextPollAt: SAME.nextPollAt,
      });
    });

    test('stays when the lost work of a task is found, or when its late answer arrives', async () => {
      await unknown(store, 'task_1');
      await unknown(store, 'task_2');

      await store.adopt('task_1', 'up-1', LATER);
      await store.accept('task_2', {
        number: 1,
        mapping: { channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-2' },
        at: LATER,
        nextPollAt: LATER,
      });

      expect([await updatedAt('task_1'), await updatedAt('task_2')]).toEqual([AT, AT]);
    });

    test('grows with each change, even within a millisecond or after the clock was set back', async () => {
      await changedAt('task_1', LATER);

      await store.progress('task_1', 'in_progress', { ...SAME, progress: 50, at: LATER });
      expect(await updatedAt('task_1')).toBe(LATER + 1);

      await store.progress('task_1', 'in_progress', { ...SAME, progress: 60, at: AT });
      expect(await updatedAt('task_1')).toBe(LATER + 2);

      await store.finish('task_1', { state: 'completed', at: AT });
      expect(await store.find('task_1')).toMatchObject({ updatedAt: LATER + 3, finishedAt: AT });
    });
  });

  describe('the versions', () => {
    test('are those of the tasks that an owner can see', async () => {
      await changedAt('task_1', LATER);
      await unknown(store, 'task_2');
      await started(store, 'task_submitting');
      await completed(store, 'task_removed');
      await store.remove('task_removed', LATER);

      expect(await store.versions(['task_1', 'task_2', 'task_submitting', 'task_removed', 'task_none'])).toEqual(
        new Map([
          ['task_1', LATER],
          ['task_2', AT],
        ]),
      );
      expect(await store.versions([])).toEqual(new Map());
    });
  });

  describe('changes of accounts', () => {
    test('are read in the order of their times, in pages, each once', async () => {
      for (const [index, id] of numbered(5).entries()) await changedAt(id, LATER - (index % 2));
      await changedAt('task_rival', LATER, { accountId: 'rival' });
      await changedAt('task_third', LATER, { accountId: 'third' });

      const found: string[] = [];
      let after = { at: LATER - 1, id: '' };
      for (;;) {
        const page = await store.listChanges(['acme', 'rival'], after, 2);
        found.push(...page.map(({ id }) => id));
        if (page.length < 2) break;
        after = { at: page.at(-1)!.version, id: page.at(-1)!.id };
      }

      expect(found).toEqual(['task_001', 'task_003', 'task_000', 'task_002', 'task_004', 'task_rival']);
    });

    test('start at the given time, inclusive', async () => {
      await changedAt('task_1', LATER - 1);
      await changedAt('task_2', LATER);

      expect(await store.listChanges(['acme'], { at: LATER, id: '' }, 10)).toEqual([{ id: 'task_2', version: LATER }]);
      expect(await store.listChanges([], BEGINNING, 10)).toEqual([]);
    });

    test('contain no task without an upstream', async () => {
      await begun(store, 'task_begun');
      await started(store, 'task_submitting');
      await begun(store, 'task_refused');
      await store.refuse('task_refused', { code: 'x', message: 'y' }, LATER);

      expect(await store.listChanges(['acme'], BEGINNING, 10)).toEqual([]);
    });
  });

  describe('the tasks of an account by their changes', () => {
    const found = async (...args: Parameters<TaskStore['listChangedTasks']>): Promise<string[]> =>
      idsOf(await store.listChangedTasks(...args));

    test('are read in the order of their times, in every state, after a position', async () => {
      await changedAt('task_3', LATER);
      await unknown(store, 'task_1');
      await completed(store, 'task_4', { at: LATER });
      await accepted(store, 'task_2');
      await changedAt('task_rival', LATER, { accountId: 'rival' });

      expect(await found({ accountId: 'acme' }, BEGINNING, 10)).toEqual(['task_1', 'task_2', 'task_3', 'task_4']);
      expect(await found({ accountId: 'acme' }, BEGINNING, 3)).toEqual(['task_1', 'task_2', 'task_3']);
      expect(await found({ accountId: 'acme' }, { at: AT, id: 'task_1' }, 2)).toEqual(['task_2', 'task_3']);
      expect(await found({ accountId: 'acme' }, { at: LATER, id: 'task_3' }, 2)).toEqual(['task_4']);
    });

    test('are filtered by state, model and kind', async () => {
      await accepted(store, 'task_1');
      await changedAt('task_2', LATER);
      await completed(store, 'task_3', { at: LATER });
      await accepted(store, 'task_4', { order: aContextIr() });
      await accepted(store, 'task_5', { order: anOrder({ model: 'Other-V1' }) });
      const owned = { accountId: 'acme' };

      expect(await found({ ...owned, states: ['queued', 'in_progress'] }, BEGINNING, 10)).toEqual([
        'task_1',
        'task_4',
        'task_5',
        'task_2',
      ]);
      expect(await found({ ...owned, states: ['completed', 'completed'] }, BEGINNING, 10)).toEqual(['task_3']);
      expect(await found({ ...owned, kind: 'context_ir' }, BEGINNING, 10)).toEqual(['task_4']);
      expect(await found({ ...owned, kind: 'generation', model: 'Other-V1' }, BEGINNING, 10)).toEqual(['task_5']);
    });

    test('contain no removed task and no task without an upstream', async () => {
      await completed(store, 'task_removed');
      await store.remove('task_removed', LATER);
      await begun(store, 'task_begun');

      expect(await found({ accountId: 'acme' }, BEGINNING, 10)).toEqual([]);
    });
  });
}
