import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { Task } from '../../src/domain/task.ts';
import type { Progress, TaskStore } from '../../src/store/task-store.ts';
import { aText, anOrder } from '../orders.ts';
import { AT, accepted, begun, completed, eventTypes, idsOf, inFlight, numbered, unknown } from './opened-store.ts';
import type { OpenStore } from './opened-store.ts';

const SCOPES = ['token:token_1', 'total', 'channel:main'] as const;
const ROOMY = { caps: [{ scope: 'total', limit: 1000 }] };
const soon = { before: AT + 1, beyond: AT + 1000, limit: 10 };
const seen: Progress = {
  state: 'in_progress',
  upstreamStatus: 'running',
  unrecognised: false,
  progress: 40,
  pollErrors: 0,
  nextPollAt: AT + 5000,
  at: AT + 1,
};

/** The changes of a task's state. */
export function movesConformance(open: OpenStore): void {
  let store: TaskStore;
  let other: TaskStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ store, other, sql } = await open());
  });
  const claim = async (by: TaskStore, now: number, limit = 100, owner = 'proc_1'): Promise<string[]> =>
    idsOf(await by.claimDue('main', { now, leaseUntil: now + 1000, limit, owner }));
  const claimed = (): Promise<readonly Task[]> =>
    store.claimDue('main', { now: AT, leaseUntil: AT + 1000, limit: 1, owner: 'proc_1' });
  const outbox = (): Promise<unknown[]> => sql.read('SELECT id, type, payload FROM outbox ORDER BY id');

  describe('claimDue', () => {
    test('leases the due tasks of the channel, up to the limit, the longest due first', async () => {
      await accepted(store, 'task_late', { nextPollAt: AT + 2 });
      await accepted(store, 'task_early', { nextPollAt: AT + 1 });
      await accepted(store, 'task_not_yet', { nextPollAt: AT + 100 });
      await accepted(store, 'task_elsewhere', { channel: 'spare', nextPollAt: AT });

      expect(await claim(store, AT + 10, 1)).toEqual(['task_early']);
      expect(await claim(store, AT + 10)).toEqual(['task_late']);
    });

    test('leases no task twice during its lease, and leases it again after', async () => {
      await accepted(store, 'task_1');

      expect(await claim(store, AT)).toEqual(['task_1']);
      expect(await claim(other, AT + 999)).toEqual([]);
      expect(await claim(other, AT + 1000)).toEqual(['task_1']);
    });

    test('is due next at the time of the first task of the channel that no process has leased', async () => {
      expect(await store.findNextDue('main', AT)).toBeUndefined();
      await accepted(store, 'task_leased', { nextPollAt: AT });
      await accepted(store, 'task_late', { nextPollAt: AT + 70 });
      await accepted(store, 'task_early', { nextPollAt: AT + 50 });
      await accepted(store, 'task_elsewhere', { channel: 'spare', nextPollAt: AT + 10 });
      await completed(store, 'task_ended');
      await claim(store, AT);

      expect(await store.findNextDue('main', AT + 999)).toBe(AT + 50);
      expect(await store.findNextDue('main', AT + 1000)).toBe(AT);
    });

    test('leases different tasks to two concurrent processes, and all tasks in the end', async () => {
      const ids = numbered(60);
      for (const id of ids) await accepted(store, id, ROOMY);

      const claimed: string[] = [];
      for (let round = 0; round < 20 && claimed.length < ids.length; round += 1) {
        claimed.push(
          ...(
            await Promise.all([claim(store, AT, 20), claim(other, AT, 20), claim(store, AT, 20), claim(other, AT, 20)])
          ).flat(),
        );
      }

      expect(claimed.toSorted()).toEqual(ids);
    });

    test('leases no ended task and no task without an upstream id', async () => {
      await completed(store, 'task_1');
      await unknown(store, 'task_2');
      await begun(store, 'task_3');

      expect(await claim(store, AT + 1e9)).toEqual([]);
    });

    test('can be undone for a dead process, and for no other', async () => {
      await accepted(store, 'task_1');
      await accepted(store, 'task_2');
      const claimed = await claim(store, AT, 1, 'proc_dead');
      await claim(store, AT, 1, 'proc_alive');

      await other.dropLeases('proc_dead');

      expect(claimed).toHaveLength(1);
      expect(await claim(other, AT)).toEqual(claimed);
    });

    test('of a task that a process left during its poll says so until the outcome of a poll is written', async () => {
      await accepted(store, 'task_1');
      expect((await claimed())[0]).toMatchObject({ resumed: false });
      await other.dropLeases('proc_1');

      expect((await claimed())[0]).toMatchObject({ resumed: true });
      await store.progress('task_1', 'queued', { ...seen, nextPollAt: AT });

      expect((await claimed())[0]).toMatchObject({ resumed: false });
    });
  });

  describe('progress', () => {
    test('counts the polls of the task, and keeps the number of those that have a span', async () => {
      await accepted(store, 'task_1');

      await store.progress('task_1', 'queued', { ...seen, pollSpans: 1 });
      await store.progress('task_1', 'in_progress', seen);

      expect(await store.find('task_1')).toMatchObject({ polls: 2, pollSpans: 1 });
    });

    test('stores the result of a poll, and ends the lease', async () => {
      await accepted(store, 'task_1');
      await claim(store, AT);

      expect(await store.progress('task_1', 'queued', seen, { type: 'reported', detail: { status: 'running' } })).toBe(
        true,
      );

      expect(await store.find('task_1')).toMatchObject({
        state: 'in_progress',
        upstreamStatus: 'running',
        progress: 40,
        nextPollAt: AT + 5000,
        updatedAt: AT + 1,
      });
      expect(await store.events('task_1')).toContainEqual({
        at: AT + 1,
        type: 'reported',
        detailJson: '{"status":"running"}',
      });
      expect(await claim(store, AT + 4999)).toEqual([]);
      expect(await claim(store, AT + 5000)).toEqual(['task_1']);
    });

    test('writes nothing when the state is no longer the one that was read', async () => {
      await accepted(store, 'task_1');
      await store.progress('task_1', 'queued', seen);

      expect(
        await store.progress('task_1', 'queued', { ...seen, state: 'queued', progress: 0 }, { type: 'reported' }),
      ).toBe(false);

      expect(await store.find('task_1')).toMatchObject({ state: 'in_progress', progress: 40 });
      expect(await eventTypes(store, 'task_1')).not.toContain('reported');
    });

    test('writes nothing to a task that has ended', async () => {
      await completed(store, 'task_1');

      expect(await store.progress('task_1', 'completed', seen)).toBe(false);
      expect(await store.progress('task_1', 'queued', seen)).toBe(false);

      expect(await store.find('task_1')).toMatchObject({ state: 'completed', progress: 100 });
    });
  });

  describe('finish', () => {
    test('stores the end, its event and its history, and removes the counts', async () => {
      await accepted(store, 'task_1');

      const finish = {
        state: 'completed',
        at: AT + 9,
        upstreamStatus: 'succeeded',
        expiresAt: AT + 1e6,
        usage: { totalSeconds: 5 },
        result: {
          object: 'obj_1',
          bytes: 3_000_000_000,
          mediaType: 'video/mp4',
          width: 1344,
          height: 768,
          durationMs: 5167,
          frameRate: 24,
        },
      } as const;
      expect(await store.finish('task_1', finish)).toBeDefined();

      const { at, ...kept } = finish;
      expect(await store.findOwned('acme', 'task_1')).toMatchObject({
        ...kept,
        progress: 100,
        finishedAt: at,
        updatedAt: at,
      });
      expect(await outbox()).toEqual([{ id: 'task_1', type: 'finished', payload: '{"state":"completed"}' }]);
      expect(await inFlight(store, ...SCOPES)).toEqual([0, 0, 0]);
      expect(await eventTypes(store, 'task_1')).toEqual(['created', 'attempt_started', 'accepted', 'completed']);
    });

    test('gives when an upstream accepted the task, and when a poll first saw it at work', async () => {
      await accepted(store, 'task_seen');
      await store.progress('task_seen', 'queued', { ...seen, state: 'queued', at: AT + 2 });
      await store.progress('task_seen', 'queued', { ...seen, at: AT + 3 });
      await store.progress('task_seen', 'in_progress', { ...seen, progress: 50, at: AT + 4 });
      await accepted(store, 'task_unseen');

      expect(await store.finish('task_seen', { state: 'completed', at: AT + 9 })).toEqual({
        acceptedAt: AT,
        workingAt: AT + 3,
      });
      expect(await store.finish('task_unseen', { state: 'completed', at: AT + 9 })).toEqual({
        acceptedAt: AT,
        workingAt: undefined,
      });
      expect(await store.finish('task_seen', { state: 'failed', at: AT + 10 })).toBeUndefined();
    });

    test('is won once in a race, with one event and one removal of the counts', async () => {
      await accepted(store, 'task_1');
      await accepted(store, 'task_2');

      const won = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? store : other).finish('task_1', {
            state: index % 3 === 0 ? 'completed' : 'failed',
            at: AT + index,
          }),
        ),
      );

      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await outbox()).toHaveLength(1);
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1, 1]);
      expect(
        (await eventTypes(store, 'task_1')).filter((type) => type === 'completed' || type === 'failed'),
      ).toHaveLength(1);
    });

    test('writes nothing when its event cannot be staged', async () => {
      await accepted(store, 'task_1');
      await sql.write("INSERT INTO outbox (id, type, payload, created_at) VALUES ('task_1', 'in the way', '{}', 0)");

      await expect(store.finish('task_1', { state: 'failed', at: AT })).rejects.toThrow();

      expect(await store.find('task_1')).toMatchObject({ state: 'queued', nextPollAt: AT });
      expect(await inFlight(store, ...SCOPES)).toEqual([1, 1, 1]);
    });

    test('ends a task with an unknown submission, for a decision', async () => {
      await unknown(store, 'task_1');

      expect(
        await store.finish('task_1', { state: 'failed', at: AT, failure: { code: 'operator', message: 'lost' } }),
      ).toBeDefined();

      expect(await store.findOwned('acme', 'task_1')).toMatchObject({
        state: 'failed',
        failure: { code: 'operator', message: 'lost' },
        progress: 0,
      });
      expect(await inFlight(store, ...SCOPES)).toEqual([0, 0, 0]);
    });

    test('does not end a task under creation or a refused one', async () => {
      await begun(store, 'task_1');
      await begun(store, 'task_2');
      await store.refuse('task_2', { code: 'x', message: 'y' }, AT);

      expect([
        await store.finish('task_1', { state: 'failed', at: AT }),
        await store.finish('task_2', { state: 'completed', at: AT }),
      ]).toEqual([undefined, undefined]);
      expect(await outbox()).toEqual([]);
    });
  });

  describe('makeDue', () => {
    test('advances the next poll even during a lease, and never delays it', async () => {
      await accepted(store, 'task_1', { nextPollAt: AT + 5000 });

      await store.makeDue('task_1', AT + 10);
      expect(await claim(store, AT + 10)).toEqual(['task_1']);

      await store.makeDue('task_1', AT + 9000);
      expect(await store.find('task_1')).toMatchObject({ nextPollAt: AT + 10 });
    });

    test('does nothing to a task that is not polled', async () => {
      await unknown(store, 'task_1');
      await completed(store, 'task_2');

      await store.makeDue('task_1', AT);
      await store.makeDue('task_2', AT);

      expect(await claim(store, AT + 1e9)).toEqual([]);
    });
  });

  describe('pollSoon', () => {
    test('makes a task due once', async () => {
      await accepted(store, 'task_1', { nextPollAt: AT + 5000 });

      expect([
        await store.pollSoon('task_1', AT + 10),
        await store.pollSoon('task_1', AT + 10),
        await other.pollSoon('task_1', AT + 20),
      ]).toEqual([true, false, false]);
      expect(await claim(store, AT + 20)).toEqual(['task_1']);
    });

    test('puts the task before all due tasks, the earliest call first', async () => {
      await accepted(store, 'task_due', { nextPollAt: AT - 1000 });
      for (const id of ['task_2', 'task_1']) await accepted(store, id, { nextPollAt: AT - 10 });
      expect([
        await store.pollSoon('task_2', AT),
        await store.pollSoon('task_1', AT + 1),
        await store.pollSoon('task_2', AT + 2),
      ]).toEqual([true, true, false]);

      expect([
        ...(await claim(store, AT + 10, 1)),
        ...(await claim(store, AT + 10, 1)),
        ...(await claim(store, AT + 10, 1)),
      ]).toEqual(['task_2', 'task_1', 'task_due']);
    });

    test('leaves a running poll its task, and makes another poll follow', async () => {
      await accepted(store, 'task_1');
      const [task] = await store.claimDue('main', { now: AT, leaseUntil: AT + 1000, limit: 1, owner: 'proc_1' });

      expect([
        await store.pollSoon('task_1', AT),
        await store.pollSoon('task_1', AT),
        await store.pollSoon('task_1', AT + 1),
      ]).toEqual([true, false, true]);
      expect(await claim(other, AT + 10)).toEqual([]);

      await store.progress('task_1', 'queued', { ...seen, wasDueAt: task?.nextPollAt });
      expect(await claim(other, AT + 10)).toEqual(['task_1']);
    });

    test('does nothing to a task that is not polled', async () => {
      await unknown(store, 'task_1');
      await completed(store, 'task_2');

      expect([
        await store.pollSoon('task_1', AT),
        await store.pollSoon('task_2', AT),
        await store.pollSoon('task_3', AT),
      ]).toEqual([false, false, false]);
    });
  });

  test('without a callback the next poll follows at its planned time', async () => {
    await accepted(store, 'task_1');
    const [task] = await store.claimDue('main', { now: AT, leaseUntil: AT + 1000, limit: 1, owner: 'proc_1' });

    await store.progress('task_1', 'queued', { ...seen, wasDueAt: task?.nextPollAt });

    expect(await store.find('task_1')).toMatchObject({ nextPollAt: seen.nextPollAt });
  });

  test('an abandoned poll leaves its task due, only if this process held the lease', async () => {
    await accepted(store, 'task_1');
    await claim(store, AT, 1, 'proc_1');

    expect([
      await store.listLeasedIds('main', 'proc_1'),
      await store.listLeasedIds('main', 'proc_other'),
      await store.listLeasedIds('spare', 'proc_1'),
    ]).toEqual([['task_1'], [], []]);

    await store.dropLease('task_1', 'proc_other');
    expect(await claim(store, AT)).toEqual([]);

    await store.dropLease('task_1', 'proc_1');
    expect(await claim(store, AT)).toEqual(['task_1']);
  });

  test('tasks with an impossibly late poll become due, up to the limit, on their channel only', async () => {
    for (const id of ['task_1', 'task_2', 'task_3']) await accepted(store, id, { nextPollAt: AT + 1000 });
    await accepted(store, 'task_near', { nextPollAt: AT + 100 });
    await accepted(store, 'task_elsewhere', { nextPollAt: AT + 1000, channel: 'spare' });
    await completed(store, 'task_ended');
    const pullIn = (): Promise<number> => store.pullIn('main', { beyond: AT + 100, to: AT, limit: 2 });

    expect([await pullIn(), await pullIn(), await pullIn()]).toEqual([2, 1, 0]);

    expect((await claim(store, AT)).toSorted()).toEqual(['task_1', 'task_2', 'task_3']);
  });

  test('a failed settlement is due again later, and its failures are counted', async () => {
    await completed(store, 'task_1');
    await store.putOffSettlement('task_1', AT + 500);

    expect(await store.listUnsettled(soon)).toEqual([]);
    expect(await store.listUnsettled({ ...soon, before: AT + 501 })).toMatchObject([
      { id: 'task_1', settleFailures: 1 },
    ]);
  });

  test('the first unsettled task is the one that waits for the longest time', async () => {
    expect(await store.findFirstUnsettled()).toBeUndefined();
    for (const id of ['task_1', 'task_2', 'task_3']) await completed(store, id);
    await store.putOffSettlement('task_1', AT + 500);
    await store.putOffSettlement('task_2', AT + 200);
    await store.markSettled(['task_3'], AT + 5);

    expect(await store.findFirstUnsettled()).toBe(AT + 200);
  });

  test('a settled task is marked once, and no longer waits for its settlement', async () => {
    await completed(store, 'task_1');
    expect(idsOf(await store.listUnsettled(soon))).toEqual(['task_1']);

    await store.markSettled(['task_1'], AT + 5);
    await store.markSettled(['task_1'], AT + 9);

    expect(await store.listUnsettled(soon)).toEqual([]);
    expect(await sql.read('SELECT settled_at FROM tasks')).toEqual([{ settled_at: AT + 5 }]);
  });

  test.each([1, 2, 16, 17, 100])('%i settled tasks are marked at once, and no other', async (count) => {
    const ids = numbered(count + 1);
    for (const id of ids) await completed(store, id);

    await store.markSettled(ids.slice(1), AT + 5);

    expect(idsOf(await store.listUnsettled({ ...soon, limit: 200 }))).toEqual([ids[0]]);
  });

  test('a task that its owner removes is hidden once, and only after its end', async () => {
    await completed(store, 'task_1');
    await accepted(store, 'task_2');

    expect([
      await store.remove('task_1', AT),
      await store.remove('task_1', AT),
      await store.remove('task_2', AT),
    ]).toEqual([true, false, false]);

    expect(await store.findOwned('acme', 'task_1')).toBeUndefined();
    expect(await store.find('task_1')).toMatchObject({ state: 'completed' });
    expect(idsOf(await store.list({ accountId: 'acme' }, { limit: 10 }))).toEqual(['task_2']);
  });

  test('a removed task keeps nothing that its owner or its upstream wrote', async () => {
    const failure = { code: 'content_rejected', message: 'the prompt "a heron" is not allowed' };
    await accepted(store, 'task_1', {
      webhookUrl: 'https://hooks.example/heron',
      order: anOrder({
        content: [{ ...aText(), text: 'a heron' }],
        callbackUrl: 'https://calls.example/heron',
        extraJson: '{"style":"heron"}',
      }),
    });
    await store.finish('task_1', { state: 'failed', failure, at: AT });
    await store.remove('task_1', AT);

    expect(await store.find('task_1')).toMatchObject({
      order: { kind: 'generation', content: [] },
      failure: { code: 'content_rejected', message: 'removed by its owner' },
    });
    expect(
      JSON.stringify([await sql.read('SELECT * FROM tasks'), await sql.read('SELECT * FROM attempts')]),
    ).not.toMatch(/heron/);
  });
}
