import { beforeEach, describe, expect, test } from '@jest/globals';
import type { BeginResult, TaskStore } from '../../src/store/task-store.ts';
import { anImage, anOrder, aText } from '../orders.ts';
import { aNewTask } from '../tasks.ts';
import { AT, accepted, begun, eventTypes, inFlight, numbered } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const SCOPES = ['token:token_1', 'total'] as const;
const REFUSED = { code: 'invalid_media', message: 'not found' };
const begunOf = (outcomes: readonly BeginResult[]): number => outcomes.filter((outcome) => outcome === 'begun').length;
const key = (name: string, expiresAt = AT + 1000) => ({ key: name, fingerprint: `print of ${name}`, expiresAt });

/** The writes of a create before its submission. */
export function createsConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  beforeEach(async () => {
    ({ store, other } = await open());
  });

  describe('begin', () => {
    test('stores the whole task hidden from its owner, and counts it', async () => {
      const order = anOrder({
        content: [aText('狐狸 🦊 "quoted" \u0000'), anImage('first_frame')],
        extraJson: '{"seed":7}',
        aigcWatermark: false,
      });
      await begun(store, 'task_1', { order, seconds: 7 });

      expect(await store.find('task_1')).toEqual({
        id: 'task_1',
        accountId: 'acme',
        tokenId: 'token_1',
        order,
        admission: 'submitting',
        state: 'queued',
        unrecognised: false,
        progress: 0,
        createdAt: AT,
        updatedAt: AT,
        seconds: 7,
        pollErrors: 0,
        polls: 0,
        pollSpans: 0,
        resumed: false,
      });
      expect(await store.findOwned('acme', 'task_1')).toBeUndefined();
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1]);
      expect(await eventTypes(store, 'task_1')).toEqual(['created']);
    });

    test('of trees of tokens at once admits what each maker may, and leaves none of the permits behind', async () => {
      const MAKERS = { root: 10, left: 4, right: 9 };
      const scopeOf = (id: string): string => `token:${id}`;
      const line = (at: number) => {
        const names = ['root', ...(at % 3 === 0 ? [] : [at % 3 === 1 ? 'left' : 'right'])].reverse();
        const makers = names.map((id) => ({ scope: scopeOf(id), limit: MAKERS[id as keyof typeof MAKERS] }));
        return [{ scope: scopeOf(`child_${at % 7}`), limit: 100 }, ...makers, { scope: 'total', limit: 1000 }];
      };
      const outcomes = await Promise.all(
        numbered(60).map((id, at) => (at % 2 === 0 ? store : other).begin(aNewTask(id, { caps: line(at) }))),
      );

      expect(begunOf(outcomes)).toBe(10);
      const [root, left = 0, right = 0] = await inFlight(store, 'token:root', 'token:left', 'token:right');
      expect([root, left <= 4, right <= 9]).toEqual([10, true, true]);
      for (const [at, outcome] of outcomes.entries())
        if (outcome === 'begun') await store.refuse(numbered(60)[at]!, REFUSED, AT);
      expect(await inFlight(store, 'token:root', 'token:left', 'token:right', 'total')).toEqual([0, 0, 0, 0]);
    });

    test('stores what the trace of the task goes on from, which no later step changes', async () => {
      const trace = {
        trace: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
        traceParent: `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`,
      };
      await accepted(store, 'task_1', trace);
      await begun(store, 'task_2');

      expect(await store.find('task_1')).toMatchObject(trace);
      expect((await store.find('task_2'))?.trace).toBeUndefined();
    });

    test('of a hundred at once admits exactly the limit of twenty', async () => {
      const outcomes = await Promise.all(
        numbered(100).map((id, index) => (index % 2 === 0 ? store : other).begin(aNewTask(id))),
      );

      expect(begunOf(outcomes)).toBe(20);
      expect(outcomes.filter((outcome) => outcome !== 'begun')).toEqual(
        Array.from({ length: 80 }, () => ({ capped: 'token:token_1' })),
      );
      expect(await inFlight(store, ...SCOPES)).toEqual([20, 20]);
      expect(await store.count({ hidden: true })).toBe(20);
    });

    test('writes neither the task nor its key when a counter is full', async () => {
      const caps = [
        { scope: 'token:token_1', limit: 20 },
        { scope: 'total', limit: 1 },
      ];
      await begun(store, 'task_1', { caps });

      expect(await store.begin(aNewTask('task_2', { caps, idempotency: key('k') }))).toEqual({ capped: 'total' });

      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1]);
      expect(await store.find('task_2')).toBeUndefined();
      expect(await store.findKey('acme', 'k', AT)).toBeUndefined();
    });

    test('admits no create when the limit is zero', async () => {
      expect(await store.begin(aNewTask('task_1', { caps: [{ scope: 'total', limit: 0 }] }))).toEqual({
        capped: 'total',
      });
    });
  });

  describe('a create whose caller has left', () => {
    test.each([
      [
        'before it begins',
        (signal: AbortController) => {
          signal.abort(new Error('left'));
        },
      ],
      [
        'while it is written',
        (signal: AbortController) => {
          queueMicrotask(() => {
            signal.abort(new Error('left'));
          });
        },
      ],
    ])('%s writes no task, key or count', async (_when, leave) => {
      const caller = new AbortController();
      leave(caller);

      await expect(store.begin(aNewTask('task_1', { idempotency: key('k') }), caller.signal)).rejects.toThrow('left');

      expect(await store.find('task_1')).toBeUndefined();
      expect(await store.findKey('acme', 'k', AT)).toBeUndefined();
      expect(await inFlight(store, ...SCOPES)).toEqual([0, 0]);
      expect(await store.begin(aNewTask('task_1', { idempotency: key('k') }), new AbortController().signal)).toBe(
        'begun',
      );
    });
  });

  describe('an idempotency key', () => {
    test('identifies the call that took it', async () => {
      await begun(store, 'task_1', { idempotency: key('k') });

      expect(await store.findKey('acme', 'k', AT)).toEqual({ fingerprint: 'print of k', taskId: 'task_1' });
    });

    test('is taken once, and a later create writes nothing', async () => {
      await begun(store, 'task_1', { idempotency: key('k') });

      expect(await store.begin(aNewTask('task_2', { idempotency: key('k') }))).toBe('key_taken');

      expect(await store.find('task_2')).toBeUndefined();
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1]);
    });

    test('is taken by exactly one of fifty concurrent creates', async () => {
      const outcomes = await Promise.all(
        numbered(50).map((id, index) =>
          (index % 2 === 0 ? store : other).begin(aNewTask(id, { idempotency: key('k') })),
        ),
      );

      expect(begunOf(outcomes)).toBe(1);
      expect(outcomes.filter((outcome) => outcome === 'key_taken')).toHaveLength(49);
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1]);
    });

    test('belongs to one account', async () => {
      await begun(store, 'task_1', { idempotency: key('k') });
      await begun(store, 'task_2', { accountId: 'rival', idempotency: key('k') });

      expect(await store.findKey('rival', 'k', AT)).toMatchObject({ taskId: 'task_2' });
    });

    test('is free again from the moment of its expiry', async () => {
      await begun(store, 'task_1', { idempotency: key('k', AT + 10) });

      expect(await store.findKey('acme', 'k', AT + 9)).toMatchObject({ taskId: 'task_1' });
      expect(await store.begin(aNewTask('task_2', { createdAt: AT + 9, idempotency: key('k') }))).toBe('key_taken');
      expect(await store.findKey('acme', 'k', AT + 10)).toBeUndefined();
      expect(await store.begin(aNewTask('task_3', { createdAt: AT + 10, idempotency: key('k') }))).toBe('begun');
      expect(await store.findKey('acme', 'k', AT + 10)).toMatchObject({ taskId: 'task_3' });
    });

    test('is free again after a refusal', async () => {
      await begun(store, 'task_1', { idempotency: key('k') });
      await store.refuse('task_1', REFUSED, AT);

      expect(await store.findKey('acme', 'k', AT)).toBeUndefined();
      expect(await store.begin(aNewTask('task_2', { idempotency: key('k') }))).toBe('begun');
    });
  });

  describe('refuse', () => {
    test('hides the task permanently, stores the reason and removes its counts', async () => {
      await begun(store, 'task_1');

      expect(await store.refuse('task_1', REFUSED, AT + 5)).toBe(true);

      expect(await store.find('task_1')).toMatchObject({
        admission: 'refused',
        state: 'failed',
        failure: REFUSED,
        finishedAt: AT + 5,
      });
      expect(await store.findOwned('acme', 'task_1')).toBeUndefined();
      expect(await store.list({ accountId: 'acme' }, { limit: 10 })).toEqual([]);
      expect(await inFlight(store, ...SCOPES)).toEqual([0, 0]);
      expect(await eventTypes(store, 'task_1')).toEqual(['created', 'refused']);
    });

    test('removes the counts of a task once, for any number of calls', async () => {
      await begun(store, 'task_1');
      await begun(store, 'task_2');

      const refused = await Promise.all(
        Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? store : other).refuse('task_1', REFUSED, AT)),
      );

      expect(refused.filter(Boolean)).toHaveLength(1);
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1]);
    });

    test('does nothing to a task that an upstream accepted', async () => {
      await accepted(store, 'task_1');

      expect(await store.refuse('task_1', REFUSED, AT)).toBe(false);

      expect(await store.findOwned('acme', 'task_1')).toMatchObject({ admission: 'accepted', state: 'queued' });
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1]);
    });
  });

  test('measure stores the probed seconds', async () => {
    await begun(store, 'task_1', { seconds: 1 });

    await store.measure('task_1', 9);

    expect(await store.find('task_1')).toMatchObject({ seconds: 9 });
  });

  test('keepStaged stores the frozen media by their index', async () => {
    await begun(store, 'task_1');
    expect((await store.find('task_1'))?.staged).toBeUndefined();

    await store.keepStaged('task_1', { 2: { object: 'obj_1', mediaType: 'image/png', durationMs: 0 } });

    expect((await store.find('task_1'))?.staged?.[2]).toEqual({
      object: 'obj_1',
      mediaType: 'image/png',
      durationMs: 0,
    });
  });
}
