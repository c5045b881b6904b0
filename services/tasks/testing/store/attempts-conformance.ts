import { beforeEach, describe, expect, test } from '@jest/globals';
import { toAcceptedTask } from '../../src/operations/attempts/record-outcome.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { aNewTask } from '../tasks.ts';
import { AT, accepted, begun, eventTypes, inFlight, numbered, outcomes, started, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const MAPPING = { channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-1' };
const first = { number: 1, owner: 'proc_1', channel: 'main', inFlightMax: 1000, at: AT };
const ROUNDS = 20;
const KEY = { key: 'k', fingerprint: 'f', expiresAt: AT + 1000 };

/** The writes around each submission and after a lost answer. */
export function attemptsConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  beforeEach(async () => {
    ({ store, other } = await open());
  });

  describe('an attempt', () => {
    test('is stored as started and counted on its channel before the submission', async () => {
      await started(store, 'task_1');

      expect(await store.attempts('task_1')).toEqual([
        { number: 1, channel: 'main', outcome: 'started', startedAt: AT },
      ]);
      expect(await inFlight(store, 'channel:main')).toEqual([1]);
      expect(await store.findOwned('acme', 'task_1')).toBeUndefined();
    });

    test('that starts with its task is the same as one that starts later', async () => {
      const attempt = { channel: 'main', inFlightMax: 1 };
      await begun(store, 'task_1', { createdAt: AT, attempt });

      expect(await store.attempts('task_1')).toEqual([
        { number: 1, channel: 'main', outcome: 'started', startedAt: AT },
      ]);
      expect(await store.begin(aNewTask('task_2', { idempotency: KEY, attempt }))).toEqual({ capped: 'channel:main' });
      expect(await store.findKey('acme', 'k', AT)).toBeUndefined();
      expect(await inFlight(store, 'channel:main', 'token:token_1', 'total')).toEqual([1, 1, 1]);

      await store.refuse('task_1', { code: 'insufficient_quota', message: 'no' }, AT + 1);
      expect(await store.attempts('task_1')).toMatchObject([
        { outcome: 'refused', error: 'not sent', endedAt: AT + 1 },
      ]);
      expect(await inFlight(store, 'channel:main', 'token:token_1', 'total')).toEqual([0, 0, 0]);
    });

    test('is not stored when the channel is full', async () => {
      await started(store, 'task_1');
      await begun(store, 'task_2');

      expect(await store.startAttempt('task_2', { ...first, inFlightMax: 1 })).toBe(false);

      expect(await store.attempts('task_2')).toEqual([]);
      expect(await inFlight(store, 'channel:main')).toEqual([1]);
    });

    test('of forty at once on a channel with a limit of seven is stored exactly seven times', async () => {
      const ids = numbered(40);
      for (const id of ids) await begun(store, id, { caps: [{ scope: 'total', limit: 100 }] });

      const through = await Promise.all(
        ids.map((id, index) => (index % 2 === 0 ? store : other).startAttempt(id, { ...first, inFlightMax: 7 })),
      );

      expect(through.filter(Boolean)).toHaveLength(7);
      expect(await inFlight(store, 'channel:main', 'total')).toEqual([7, 40]);
    });

    test('that was refused frees its channel for the next', async () => {
      await started(store, 'task_1');

      await store.refuseAttempt('task_1', {
        number: 1,
        channel: 'main',
        error: 'insufficient balance (1008)',
        at: AT + 1,
      });
      expect(await inFlight(store, 'channel:main', 'token:token_1')).toEqual([0, 1]);

      await store.startAttempt('task_1', { ...first, number: 2, channel: 'spare', at: AT + 2 });
      expect(await store.attempts('task_1')).toEqual([
        {
          number: 1,
          channel: 'main',
          outcome: 'refused',
          error: 'insufficient balance (1008)',
          startedAt: AT,
          endedAt: AT + 1,
        },
        { number: 2, channel: 'spare', outcome: 'started', startedAt: AT + 2 },
      ]);
      expect(await store.find('task_1')).toMatchObject({ admission: 'submitting' });
    });
  });

  describe('accept', () => {
    test('shows the task to its owner, stores the mapping and schedules a poll', async () => {
      const acceptance = { mapping: MAPPING, at: AT + 1, nextPollAt: AT + 3000 };
      await started(store, 'task_1');

      expect(await store.accept('task_1', { number: 1, ...acceptance })).toBe('accepted');

      expect(await store.findOwned('acme', 'task_1')).toEqual(toAcceptedTask(aNewTask('task_1'), acceptance));
      expect(await store.attempts('task_1')).toMatchObject([
        { outcome: 'accepted', upstreamId: 'up-1', endedAt: AT + 1 },
      ]);
      expect(await eventTypes(store, 'task_1')).toEqual(['created', 'attempt_started', 'accepted']);
    });

    test('succeeds after the create was taken for dead', async () => {
      await unknown(store, 'task_1');

      await store.accept('task_1', { number: 1, mapping: MAPPING, at: AT + 1, nextPollAt: AT + 3000 });

      expect(await store.findOwned('acme', 'task_1')).toMatchObject({
        admission: 'accepted',
        mapping: MAPPING,
        nextPollAt: AT + 3000,
      });
      expect(await outcomes(store, 'task_1')).toEqual(['accepted']);
    });

    test('does not revive a task that an operator has ended', async () => {
      await unknown(store, 'task_1');
      await store.finish('task_1', { state: 'failed', at: AT });

      await store.accept('task_1', { number: 1, mapping: MAPPING, at: AT + 1, nextPollAt: AT + 3000 });

      expect(await store.find('task_1')).toMatchObject({ state: 'failed', finishedAt: AT });
      expect(
        await store.claimDue('main', { now: AT + 10_000, leaseUntil: AT + 20_000, limit: 10, owner: 'proc_1' }),
      ).toEqual([]);
    });
  });

  describe('accept of an id that another task has', () => {
    test('is refused each time, and writes nothing', async () => {
      await accepted(store, 'task_0');
      await started(store, 'task_1');
      const known = { number: 1, mapping: { ...MAPPING, upstreamId: 'up-task_0' }, at: AT + 1, nextPollAt: AT + 3000 };

      expect([await store.accept('task_1', known), await store.accept('task_1', known)]).toEqual([
        'id_known',
        'id_known',
      ]);

      expect(await store.find('task_1')).toMatchObject({ admission: 'submitting' });
      expect(await outcomes(store, 'task_1')).toEqual(['started']);
      expect((await store.find('task_0'))?.mapping?.upstreamId).toBe('up-task_0');
    });

    test('does not end the attempt of a task that has the same id on its own upstream account', async () => {
      const acceptance = { number: 1, at: AT + 1, nextPollAt: AT + 3000 };
      const elsewhere = { ...acceptance, mapping: { ...MAPPING, upstreamAccount: 'other' } };
      await started(store, 'task_0');
      await store.accept('task_0', elsewhere);
      await started(store, 'task_1');
      await store.accept('task_1', { ...acceptance, mapping: MAPPING });

      expect(await store.accept('task_1', { ...elsewhere, at: AT + 9 })).toBe('id_known');

      expect(await store.attempts('task_1')).toMatchObject([{ outcome: 'accepted', endedAt: AT + 1 }]);
    });

    test('is possible on another upstream account', async () => {
      await accepted(store, 'task_0');
      await started(store, 'task_1');

      expect(
        await store.accept('task_1', {
          number: 1,
          mapping: { ...MAPPING, upstreamAccount: 'other', upstreamId: 'up-task_0' },
          at: AT + 1,
          nextPollAt: AT + 3000,
        }),
      ).toBe('accepted');
    });
  });

  describe('leaveUnknown', () => {
    test('shows the task to its owner, keeps its counts and schedules no poll', async () => {
      await unknown(store, 'task_1');

      const task = await store.findOwned('acme', 'task_1');
      expect(task).toMatchObject({
        admission: 'unknown',
        state: 'queued',
        mapping: { channel: 'main', upstreamAccount: 'vendor' },
      });
      expect(task?.mapping?.upstreamId).toBeUndefined();
      expect(await store.attempts('task_1')).toMatchObject([{ outcome: 'unknown', error: 'timed out', endedAt: AT }]);
      expect(await inFlight(store, 'channel:main', 'token:token_1', 'total')).toEqual([1, 1, 1]);
      expect(await store.claimDue('main', { now: AT + 1e9, leaseUntil: AT + 2e9, limit: 10, owner: 'proc_1' })).toEqual(
        [],
      );
    });

    test('does not change an accepted task', async () => {
      await accepted(store, 'task_1');

      await store.leaveUnknown('task_1', {
        number: 1,
        mapping: { channel: 'main', upstreamAccount: 'vendor' },
        error: 'cut off',
        at: AT + 1,
      });

      expect(await store.findOwned('acme', 'task_1')).toMatchObject({
        admission: 'accepted',
        mapping: { upstreamId: 'up-task_1' },
      });
      expect(await outcomes(store, 'task_1')).toEqual(['accepted']);
      expect(await eventTypes(store, 'task_1')).not.toContain('outcome_unknown');
    });
  });

  describe('disown', () => {
    test('keeps the former process of the create from another attempt', async () => {
      await begun(store, 'task_1');

      expect(await other.disown('task_1')).toBe(true);

      await expect(store.startAttempt('task_1', first)).rejects.toThrow('taken over');
      expect(await store.attempts('task_1')).toEqual([]);
      expect(await inFlight(store, 'channel:main')).toEqual([0]);
    });

    test.each<[string, (id: string) => Promise<unknown>]>([
      ['refused', async (id) => store.refuse(id, { code: 'x', message: 'y' }, AT)],
      [
        'finished',
        async (id) => {
          await store.leaveUnknown(id, {
            number: 1,
            mapping: { channel: 'main', upstreamAccount: 'vendor' },
            error: 'z',
            at: AT,
          });
          await store.finish(id, { state: 'failed', at: AT });
        },
      ],
    ])('does nothing to a create that was %s, which cannot start an attempt either', async (_how, end) => {
      await begun(store, 'task_1');
      await end('task_1');

      expect(await store.disown('task_1')).toBe(false);
      await expect(store.startAttempt('task_1', first)).rejects.toThrow('taken over');
    });

    test('at the same moment as an attempt sees the attempt, or the attempt does not start', async () => {
      for (const id of numbered(ROUNDS)) {
        await begun(store, id);
        const [attempt, seen] = await Promise.allSettled([
          store.startAttempt(id, first),
          other.disown(id).then(() => other.attempts(id)),
        ]);

        expect(seen.status).toBe('fulfilled');
        expect(seen.status === 'fulfilled' ? seen.value.length : -1).toBe(attempt.status === 'fulfilled' ? 1 : 0);
        await store.leaveUnknown(id, {
          number: 1,
          mapping: { channel: 'main', upstreamAccount: 'vendor' },
          error: 'cut off',
          at: AT,
        });
        await store.finish(id, { state: 'failed', at: AT });
      }
    });
  });

  describe('adopt', () => {
    test('assigns the upstream work to an unknown task, which is due at once', async () => {
      await unknown(store, 'task_1');

      expect(await store.adopt('task_1', 'up-9', AT + 7)).toBe(true);

      expect(await store.findOwned('acme', 'task_1')).toMatchObject({
        admission: 'accepted',
        mapping: { channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-9' },
        nextPollAt: AT + 7,
      });
    });

    test('does not assign the work of another task', async () => {
      await accepted(store, 'task_1');
      await unknown(store, 'task_2');

      expect(await store.adopt('task_2', 'up-task_1', AT)).toBe(false);

      expect(await store.find('task_2')).toMatchObject({ admission: 'unknown' });
    });

    test('assigns one piece of work to at most one of many concurrent callers', async () => {
      const ids = numbered(10);
      for (const id of ids) await unknown(store, id);

      const adoptions = await Promise.allSettled(
        ids.map((id, index) => (index % 2 === 0 ? store : other).adopt(id, 'up-9', AT)),
      );

      expect(adoptions.filter((adoption) => adoption.status === 'fulfilled' && adoption.value)).toHaveLength(1);
      expect(
        (await Promise.all(ids.map((id) => store.find(id)))).filter((task) => task?.mapping?.upstreamId === 'up-9'),
      ).toHaveLength(1);
    });

    test('does not change a task that is not unknown', async () => {
      await accepted(store, 'task_1');
      await begun(store, 'task_2');

      expect([
        await store.adopt('task_1', 'up-9', AT),
        await store.adopt('task_2', 'up-9', AT),
        await store.adopt('task_3', 'up-9', AT),
      ]).toEqual([false, false, false]);
    });
  });
}
