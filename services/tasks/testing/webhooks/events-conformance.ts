import { beforeEach, describe, expect, test } from '@jest/globals';
import { beforeCommit } from '@reelgate/platform/testing/before-commit';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { JobStore } from '../../src/store/job-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import type { WebhookStore } from '../../src/store/webhook-store.ts';
import { aNewJob } from '../jobs/new-jobs.ts';
import { AT as TASK_AT, accepted, started } from '../store/opened-store.ts';
import { AT, anEvent, dispatched } from './opened-webhooks.ts';
import type { OpenWebhooks, OpenedWebhooks } from './opened-webhooks.ts';

const CARRIER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const FAILURE = { code: 'x', message: 'y' };

/** Events: how they come into being, and how streams read them. */
export function eventsConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let tasks: TaskStore;
  let jobs: JobStore;
  let sql: Sql;
  let on: OpenedWebhooks['on'];
  beforeEach(async () => {
    ({ store, tasks, jobs, sql, on } = await open());
  });
  const written = (): Promise<unknown[]> =>
    sql.read('SELECT account_id, type, subject_id, created_at, url FROM events ORDER BY id');
  const numbers = (rows: readonly unknown[]): unknown[] =>
    rows.map((row) => ({
      ...(row as object),
      created_at: Number((row as { readonly created_at: unknown }).created_at),
    }));
  const startedJob = async (
    by: JobStore,
    id: string,
    webhookUrl?: string,
  ): Promise<{ jobId: string; lease: string }> => {
    const lease = { name: `lease_${id}`, worker: 'gateway', until: TASK_AT + 1000 };
    expect(await by.beginJob(aNewJob(id, { webhookUrl, lease }))).toBe('begun');
    expect(await by.startJob({ jobId: id, lease: lease.name }, TASK_AT)).toBe(true);
    return { jobId: id, lease: lease.name };
  };
  /** A database whose transactions fail at their end. */
  const failing = (): Sql => beforeCommit(sql, () => Promise.reject(new Error('not committed')));

  describe('the end of a task or a job', () => {
    test.each([
      ['completed', undefined],
      ['completed', 'https://site.example/hook'],
      ['failed', 'https://site.example/hook'],
    ] as const)('a task that %s has one event with the URL %s, even if it ends twice', async (state, url) => {
      await accepted(tasks, 'task_1', { webhookUrl: url });
      const finish = { state, at: TASK_AT + 7, ...(state === 'failed' ? { failure: FAILURE } : {}) };

      await Promise.all([tasks.finish('task_1', finish), tasks.finish('task_1', finish)]);
      await tasks.finish('task_1', { ...finish, state: 'failed' });

      expect(numbers(await written())).toEqual([
        {
          account_id: 'acme',
          type: `video.${state}`,
          subject_id: 'task_1',
          created_at: TASK_AT + 7,
          url: url ?? null,
        },
      ]);
    });

    test.each([
      ['completed', undefined],
      ['failed', 'https://site.example/hook'],
    ] as const)('a job that %s has one event with the URL %s, even if it ends twice', async (state, url) => {
      const lease = await startedJob(jobs, 'job_1', url);

      expect(await jobs.finishJob(lease, { state, at: TASK_AT + 7 })).toBe(true);
      expect(await jobs.finishJob(lease, { state, at: TASK_AT + 8 })).toBe(false);

      expect(numbers(await written())).toEqual([
        { account_id: 'acme', type: `job.${state}`, subject_id: 'job_1', created_at: TASK_AT + 7, url: url ?? null },
      ]);
    });

    test('the event of an end has the request, the trace and the time of what has ended', async () => {
      const origin = { requestId: 'req-1', trace: CARRIER };
      await accepted(tasks, 'task_1', origin);
      await tasks.finish('task_1', { state: 'completed', at: TASK_AT + 7 });
      await accepted(tasks, 'task_2', { requestId: undefined });
      await tasks.finish('task_2', { state: 'completed', at: TASK_AT + 8 });
      const lease = { name: 'lease_1', worker: 'gateway', until: TASK_AT + 1000 };
      await jobs.beginJob(aNewJob('job_1', { ...origin, lease }));
      await jobs.startJob({ jobId: 'job_1', lease: 'lease_1' }, TASK_AT);
      await jobs.finishJob({ jobId: 'job_1', lease: 'lease_1' }, { state: 'completed', at: TASK_AT + 9 });

      const ids = (await sql.read('SELECT id FROM events ORDER BY created_at')).map((row) => String(row['id']));
      const found = await store.findEvents(ids);

      expect(ids.map((id) => found.get(id)?.origin)).toEqual([
        { ...origin, createdAt: (await tasks.find('task_1'))!.createdAt },
        { requestId: undefined, trace: undefined, createdAt: (await tasks.find('task_2'))!.createdAt },
        { ...origin, createdAt: (await jobs.findJob('job_1'))!.createdAt },
      ]);
    });

    test('an end that is not committed has no event', async () => {
      await accepted(tasks, 'task_1');
      const lease = await startedJob(jobs, 'job_1');
      const broken = on(failing());

      await expect(broken.tasks.finish('task_1', { state: 'completed', at: TASK_AT })).rejects.toThrow('not committed');
      await expect(broken.jobs.finishJob(lease, { state: 'completed', at: TASK_AT })).rejects.toThrow('not committed');

      expect(await written()).toEqual([]);
    });

    test('a refused create and a withdrawn job have no event', async () => {
      await started(tasks, 'task_1');
      await tasks.refuse('task_1', FAILURE, TASK_AT);
      const lease = { name: 'lease_1', worker: 'gateway', until: TASK_AT + 1000 };
      await jobs.beginJob(aNewJob('job_1', { lease }));
      expect(await jobs.withdrawJob({ jobId: 'job_1', lease: 'lease_1' })).toBeDefined();

      expect(await written()).toEqual([]);
    });

    test('the events of ends have different ids and are dispatched in the order of their times', async () => {
      for (const [id, at] of [
        ['task_1', 30],
        ['task_2', 10],
        ['task_3', 20],
      ] as const) {
        await accepted(tasks, id);
        await tasks.finish(id, { state: 'completed', at: TASK_AT + at });
      }

      expect(await store.dispatch({ now: TASK_AT + 30, limit: 10 })).toMatchObject({ events: 3 });

      const events = await store.eventsAfter({ accountId: 'acme' }, 0, 10);
      expect(events.map(({ subjectId }) => subjectId)).toEqual(['task_2', 'task_3', 'task_1']);
      expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    });
  });

  test('an event that is added twice is written once, as it was first', async () => {
    const event = anEvent('evt_1', { type: 'balance.low', subjectId: 'acme', dataJson: '{"available":"1.23"}' });

    await store.addEvent(event);
    await store.addEvent({ ...event, dataJson: '{}' });

    expect(await store.findEvents(['evt_1', 'evt_2'])).toEqual(new Map([['evt_1', event]]));
    expect(await store.dispatch({ now: AT, limit: 10 })).toMatchObject({ events: 1 });
    expect(await store.lastEvent('acme')).toEqual({ ...event, seq: 1 });
  });

  test('more events are found than one statement names', async () => {
    const ids = Array.from({ length: 300 }, (_, index) => `evt_${String(index).padStart(3, '0')}`);
    await dispatched(store, ids);

    expect([...(await store.findEvents(ids)).keys()].toSorted()).toEqual(ids);
  });

  test.each([
    ['all of the account', { accountId: 'acme' }, 0, 10, ['evt_1', 'evt_2', 'evt_4']],
    ['those after a place', { accountId: 'acme' }, 1, 10, ['evt_2', 'evt_4']],
    ['as many as are asked for', { accountId: 'acme' }, 0, 2, ['evt_1', 'evt_2']],
    ['those of some types', { accountId: 'acme', types: ['job.failed', 'balance.low'] }, 0, 10, ['evt_4']],
    ['those of a subject', { accountId: 'acme', subjectId: 'task_of_evt_2' }, 0, 10, ['evt_2']],
    ['none of another account', { accountId: 'acme', subjectId: 'task_of_evt_3' }, 0, 10, []],
    ['none of a text that is not stored', { accountId: 'ac\0me' }, 0, 10, []],
  ] as const)('a stream reads %s', async (_what, filter, seq, limit, expected) => {
    await dispatched(store, ['evt_1', 'evt_2']);
    await dispatched(store, ['evt_3'], { accountId: 'rival' });
    await dispatched(store, ['evt_4'], { type: 'job.failed' });
    await store.addEvent(anEvent('evt_5'));

    expect((await store.eventsAfter(filter, seq, limit)).map(({ id }) => id)).toEqual(expected);
  });

  test('the place of an event is known to its account once it is dispatched', async () => {
    await store.addEvent(anEvent('evt_1'));
    expect(await store.findPlace('acme', 'evt_1')).toBeUndefined();
    expect(await store.lastEvent('acme')).toBeUndefined();

    await store.dispatch({ now: AT, limit: 10 });

    expect(await store.findPlace('acme', 'evt_1')).toBe(1);
    expect(await store.findPlace('rival', 'evt_1')).toBeUndefined();
    expect(await store.findPlace('acme', 'evt_2')).toBeUndefined();
  });

  test('the accounts with newer events are found with their last places, a look at a time', async () => {
    await dispatched(store, ['evt_1']);
    await dispatched(store, ['evt_2'], { accountId: 'rival' });
    await dispatched(store, ['evt_3', 'evt_4']);
    const look = async (seq: number, limit: number): Promise<unknown[]> =>
      (await store.lastPlaces(seq, limit)).toSorted((one, another) => one.seq - another.seq);

    expect(await look(0, 10)).toEqual([
      { accountId: 'rival', seq: 2 },
      { accountId: 'acme', seq: 4 },
    ]);
    expect(await look(1, 2)).toEqual([
      { accountId: 'rival', seq: 2 },
      { accountId: 'acme', seq: 3 },
    ]);
    expect(await look(4, 10)).toEqual([]);
  });
}
