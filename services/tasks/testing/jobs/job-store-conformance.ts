import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { JobLease } from '../../src/domain/job.ts';
import type { JobRetentionStore, JobStore } from '../../src/store/job-store.ts';
import type { BeginResult, TaskStore } from '../../src/store/task-store.ts';
import { aNewTask } from '../tasks.ts';
import { AT, aCall, aHeader, aNewJob, anAnswer } from './new-jobs.ts';

type Jobs = JobStore & JobRetentionStore;

export interface OpenedJobs {
  readonly jobs: Jobs;
  /** Another process on the same database. */
  readonly other: Jobs;
  readonly tasks: TaskStore;
  readonly sql: Sql;
}

const UNTIL = AT + 1000;
const FAILED = { code: 'outcome_unknown', message: 'not known' };
const SCOPES = ['jobs:token:token_1', 'jobs:total'];
const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `job_${String(index).padStart(3, '0')}`);
const key = (name: string, expiresAt = AT + 5000) => ({ key: name, fingerprint: `print of ${name}`, expiresAt });
const begunOf = (outcomes: readonly BeginResult[]): number => outcomes.filter((outcome) => outcome === 'begun').length;
const ROOMY = { caps: [{ scope: 'jobs:total', limit: 1000 }] };

/** The guarantees of every job store. */
export function jobStoreConformance(open: () => Promise<OpenedJobs>): void {
  let jobs: Jobs;
  let other: Jobs;
  let tasks: TaskStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ jobs, other, tasks, sql } = await open());
  });
  let leases = 0;
  const lease = async (
    options: { limit?: number; now?: number; until?: number; by?: Jobs } = {},
  ): Promise<JobLease[]> => {
    const { limit = 10, now = AT, until = UNTIL, by = jobs } = options;
    const name = `lease_${(leases += 1)}`;
    return (await by.leaseJobs({ worker: 'gateway', lease: name, now, until, limit })).map(({ job }) => ({
      jobId: job.id,
      lease: name,
    }));
  };
  const begun = async (id: string, changes: Parameters<typeof aNewJob>[1] = {}): Promise<void> => {
    expect(await jobs.beginJob(aNewJob(id, changes))).toBe('begun');
  };
  const leased = async (id: string, changes: Parameters<typeof aNewJob>[1] = {}): Promise<JobLease> => {
    await begun(id, changes);
    const [own] = await lease({ limit: 1 });
    expect(own?.jobId).toBe(id);
    return own!;
  };
  const started = async (id: string, changes: Parameters<typeof aNewJob>[1] = {}): Promise<JobLease> => {
    const own = await leased(id, changes);
    expect(await jobs.startJob(own, AT)).toBe(true);
    return own;
  };
  const inFlight = (): Promise<number[]> => Promise.all(SCOPES.map((scope) => tasks.inFlight(scope)));
  const rows = async (table: string): Promise<number> =>
    Number((await sql.read(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.['count']);

  describe('beginJob', () => {
    test('writes the job with its call, and counts it', async () => {
      const call = aCall({
        query: 'a=1',
        body: { case: 'object', value: 'prv_1' },
        headers: [aHeader('x', '狐狸 🦊'), aHeader('x', 'twice')],
      });
      await begun('job_1', { call, visibleModels: ['a', 'b'], repeatable: true });

      expect(await jobs.findJob('job_1')).toEqual({
        id: 'job_1',
        accountId: 'acme',
        tokenId: 'token_1',
        visibleModels: ['a', 'b'],
        requestId: 'req_1',
        endpoint: 'chat',
        model: 'some-model',
        repeatable: true,
        state: 'queued',
        isBeingCreated: false,
        starts: 0,
        createdAt: AT,
        updatedAt: AT,
      });
      expect((await jobs.leaseJobs({ worker: 'w', lease: 'l', now: AT, until: UNTIL, limit: 1 }))[0]?.call).toEqual(
        call,
      );
      expect(await inFlight()).toEqual([1, 1]);
    });

    test('of a hundred at once admits exactly the limit of twenty', async () => {
      const outcomes = await Promise.all(
        numbered(100).map((id, index) => (index % 2 === 0 ? jobs : other).beginJob(aNewJob(id))),
      );

      expect(begunOf(outcomes)).toBe(20);
      expect(await inFlight()).toEqual([20, 20]);
      expect([await rows('jobs'), await rows('job_calls')]).toEqual([20, 20]);
    });

    test('counts a job for each maker of its token until it ends, whoever made it', async () => {
      const line = (tokenId: string) => ({
        tokenId,
        caps: [tokenId, 'maker', 'root'].map((id) => ({ scope: `jobs:token:${id}`, limit: id === 'root' ? 2 : 9 })),
      });
      const counted = () => Promise.all(['one', 'maker', 'root'].map((id) => tasks.inFlight(`jobs:token:${id}`)));
      const own = await started('job_1', line('one'));
      await begun('job_2', line('two'));

      expect(await jobs.beginJob(aNewJob('job_3', line('three')))).toEqual({ capped: 'jobs:token:root' });
      expect(await counted()).toEqual([1, 2, 2]);
      await jobs.finishJob(own, { state: 'failed', at: AT });
      expect(await counted()).toEqual([0, 1, 1]);
    });

    test('has counters apart from those of tasks', async () => {
      await begun('job_1', { caps: [{ scope: 'jobs:total', limit: 1 }] });

      expect(await tasks.begin(aNewTask('task_1', { caps: [{ scope: 'total', limit: 1 }] }))).toBe('begun');
      expect(await jobs.beginJob(aNewJob('job_2', { caps: [{ scope: 'jobs:total', limit: 1 }] }))).toEqual({
        capped: 'jobs:total',
      });
    });

    test('writes neither the job nor its key when a counter is full', async () => {
      expect(
        await jobs.beginJob(aNewJob('job_1', { idempotency: key('k'), caps: [{ scope: 'jobs:total', limit: 0 }] })),
      ).toEqual({ capped: 'jobs:total' });

      expect([await rows('jobs'), await rows('job_calls'), await rows('idempotency_keys')]).toEqual([0, 0, 0]);
    });

    test('gives a key to exactly one of fifty callers', async () => {
      const outcomes = await Promise.all(
        numbered(50).map((id, index) =>
          (index % 2 === 0 ? jobs : other).beginJob(aNewJob(id, { idempotency: key('k') })),
        ),
      );

      expect(begunOf(outcomes)).toBe(1);
      expect(outcomes.filter((outcome) => outcome === 'key_taken')).toHaveLength(49);
    });

    test('sees a key that belongs to a task, and a task sees a key of a job', async () => {
      await begun('job_1', { idempotency: key('of a job') });
      expect(await tasks.begin(aNewTask('task_1', { idempotency: key('of a job') }))).toBe('key_taken');

      expect(await tasks.begin(aNewTask('task_2', { idempotency: key('of a task') }))).toBe('begun');
      expect(await jobs.beginJob(aNewJob('job_2', { idempotency: key('of a task') }))).toBe('key_taken');
    });
  });

  describe('leaseJobs', () => {
    test('gives each job to one of several concurrent workers, and all jobs in the end', async () => {
      for (const id of numbered(40)) await begun(id, ROOMY);

      const taken = (
        await Promise.all([jobs, other, jobs, other, jobs, other].map((by) => lease({ by, limit: 7 })))
      ).flat();
      const rest = await lease({ limit: 64 });

      expect(new Set([...taken, ...rest].map(({ jobId }) => jobId)).size).toBe(40);
      expect(taken.length + rest.length).toBe(40);
      expect(await lease()).toEqual([]);
    });

    test('gives the longest-waiting job first, and at most the requested number', async () => {
      await begun('job_b', { createdAt: AT - 2 });
      await begun('job_a', { createdAt: AT - 1 });
      await begun('job_c', { createdAt: AT - 3 });

      expect((await lease({ limit: 2 })).map(({ jobId }) => jobId)).toEqual(['job_c', 'job_b']);
    });

    test('gives no job before it is due', async () => {
      const own = await leased('job_1');
      await jobs.requeueJob(own, { starts: 0, at: AT, dueAt: AT + 50, why: 'busy' });

      expect(await lease({ now: AT + 49 })).toEqual([]);
      expect(await lease({ now: AT + 50 })).toHaveLength(1);
    });
  });

  describe('a lease', () => {
    test('can be renewed while it is valid, by its own name alone', async () => {
      const own = await leased('job_1');

      expect([...(await jobs.renewLeases([own], AT, UNTIL + 500))]).toEqual(['job_1']);
      expect([...(await jobs.renewLeases([{ ...own, lease: 'another' }], AT, UNTIL + 500))]).toEqual([]);
      expect(await jobs.lostJobs(UNTIL + 499, 10)).toEqual([]);
      expect([...(await jobs.renewLeases([own], UNTIL + 500, UNTIL + 900))]).toEqual([]);
      expect((await jobs.lostJobs(UNTIL + 500, 10)).map((lost) => lost.lease)).toEqual([own]);
    });

    test('starts a job once, and not after its end', async () => {
      const own = await leased('job_1');
      expect(await jobs.startJob({ ...own, lease: 'another' }, AT)).toBe(false);
      expect(await jobs.startJob(own, AT)).toBe(true);
      expect(await jobs.startJob(own, AT)).toBe(false);

      const late = await leased('job_2');
      expect(await jobs.startJob(late, UNTIL)).toBe(false);
      expect(await jobs.findJob('job_1')).toMatchObject({ state: 'in_progress', starts: 1 });
      expect(await jobs.findJob('job_2')).toMatchObject({ state: 'queued', starts: 0 });
    });

    test('that was taken over changes nothing more', async () => {
      const first = await leased('job_1');
      await jobs.requeueJob(first, { starts: 0, at: AT, dueAt: AT, why: 'gone' });
      const [second] = await lease();

      expect(await jobs.startJob(first, AT)).toBe(false);
      expect(await jobs.requeueJob(first, { starts: 0, at: AT, dueAt: AT, why: 'gone' })).toBe(false);
      expect(await jobs.finishJob(first, { state: 'completed', at: AT, answer: anAnswer() })).toBe(false);
      expect([...(await jobs.renewLeases([first], AT, UNTIL))]).toEqual([]);
      expect(await jobs.startJob(second!, AT)).toBe(true);
    });

    test('does not requeue a job that was started after the decision', async () => {
      const own = await started('job_1');

      expect(await jobs.requeueJob(own, { starts: 0, at: AT, dueAt: AT, why: 'gone' })).toBe(false);
      expect(await jobs.requeueJob(own, { starts: 1, at: AT, dueAt: AT, why: 'untouched' })).toBe(true);
      expect(await jobs.findJob('job_1')).toMatchObject({ state: 'queued', starts: 1 });
    });
  });

  describe('finishJob', () => {
    test('ends a job once with its answer, updates the counters and removes the request', async () => {
      const own = await started('job_1');
      const answer = anAnswer({ body: { case: 'object', value: 'prv_2' } });

      const ended = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 === 0 ? jobs : other).finishJob(own, { state: 'completed', at: AT + 1, answer }),
        ),
      );

      expect(ended.filter(Boolean)).toHaveLength(1);
      expect(await jobs.findJob('job_1')).toMatchObject({ state: 'completed', finishedAt: AT + 1, answer });
      expect(await inFlight()).toEqual([0, 0]);
      expect(await rows('job_calls')).toBe(0);
      expect(await jobs.lostJobs(UNTIL + 1, 10)).toEqual([]);
    });

    test('asks for a decision in the same transaction on request', async () => {
      const own = await started('job_1');
      await jobs.finishJob(own, {
        state: 'failed',
        at: AT,
        failure: FAILED,
        attention: { reason: 'unknown_outcome', detail: 'lost' },
      });

      expect(await tasks.listOpenAttention()).toMatchObject([
        {
          taskId: 'job_1',
          accountId: 'acme',
          isJob: true,
          reason: 'unknown_outcome',
          detail: 'lost',
          since: timestampFromMs(AT),
        },
      ]);
      expect(await jobs.finishJob(own, { state: 'completed', at: AT, answer: anAnswer() })).toBe(false);
    });
  });

  describe('a job that is created under a lease', () => {
    const create = (changes: Parameters<typeof aNewJob>[1] = {}) =>
      begun('job_1', {
        lease: { name: 'create_1', worker: 'gateway', until: UNTIL },
        idempotency: key('k'),
        ...changes,
      });
    const own = { jobId: 'job_1', lease: 'create_1' };

    test('is leased to no other worker, and is queued when its lease is returned', async () => {
      await create();
      expect(await jobs.findJob('job_1')).toMatchObject({ state: 'queued', isBeingCreated: true });
      expect(await lease()).toEqual([]);

      await jobs.requeueJob(own, { starts: 0, at: AT, dueAt: AT, why: 'paid for' });
      expect(await jobs.findJob('job_1')).toMatchObject({ state: 'queued', isBeingCreated: false });
      expect(await lease()).toHaveLength(1);
      expect(await jobs.withdrawJob(own)).toBeUndefined();
    });

    test('is lost like any other job when its creator dies', async () => {
      await create();

      expect((await jobs.lostJobs(UNTIL, 10)).map((lost) => lost.lease)).toEqual([own]);
    });

    test('that is withdrawn leaves no row, key or count', async () => {
      await create();
      expect(await jobs.withdrawJob({ ...own, lease: 'another' })).toBeUndefined();

      const withdrawn = await Promise.all([jobs, other, jobs].map((by) => by.withdrawJob(own)));

      expect(withdrawn.filter(Boolean)).toHaveLength(1);
      for (const table of ['jobs', 'job_calls', 'task_events', 'idempotency_keys'])
        expect([table, await rows(table)]).toEqual([table, 0]);
      expect(await inFlight()).toEqual([0, 0]);
    });

    test('cannot be withdrawn after its start', async () => {
      await create();
      await jobs.startJob(own, AT);

      expect(await jobs.withdrawJob(own)).toBeUndefined();
    });
  });

  test('unfinished jobs are counted by state, with the oldest of each', async () => {
    await started('job_1', { createdAt: AT - 9 });
    await begun('job_2', { createdAt: AT - 5 });
    await begun('job_3', { createdAt: AT - 7 });

    expect((await jobs.pendingJobs()).toSorted((one, two) => one.count - two.count)).toEqual([
      { state: 'in_progress', count: 1, oldestAt: AT - 9 },
      { state: 'queued', count: 2, oldestAt: AT - 7 },
    ]);
  });

  test('jobs are listed newest first, optionally of one account or state', async () => {
    await started('job_1');
    await begun('job_2', { accountId: 'rival' });
    await begun('job_3');
    const ids = async (...[filter, page]: Parameters<JobStore['listJobs']>): Promise<string[]> =>
      (await jobs.listJobs(filter, page)).map(({ id }) => id);

    expect(await ids({}, { limit: 10 })).toEqual(['job_3', 'job_2', 'job_1']);
    expect(await ids({ accountId: 'acme' }, { limit: 10 })).toEqual(['job_3', 'job_1']);
    expect(await ids({ state: 'in_progress' }, { limit: 10 })).toEqual(['job_1']);
    expect(await ids({}, { limit: 1, after: 'job_3' })).toEqual(['job_2']);
  });

  describe('retention', () => {
    const ended = async (id: string, at = AT, changes: Parameters<typeof aNewJob>[1] = {}): Promise<void> => {
      const own = await started(id, {
        ...ROOMY,
        call: aCall({ body: { case: 'object', value: `body-of-${id}` } }),
        ...changes,
      });
      await jobs.finishJob(own, {
        state: 'completed',
        at,
        answer: anAnswer({ body: { case: 'object', value: `answer-of-${id}` } }),
      });
    };
    const old = async (before = AT + 100, limit = 10) => jobs.oldJobs({ before, now: AT, limit });

    test('lists the requests of ended jobs until they are removed', async () => {
      await ended('job_1');
      await leased('job_2', { call: aCall({ body: { case: 'object', value: 'needed' } }) });

      expect(await jobs.spentBodies(10)).toEqual([{ jobId: 'job_1', object: 'body-of-job_1' }]);
      await jobs.forgetBodies(['job_1', 'job_2']);
      expect(await jobs.spentBodies(10)).toEqual([]);
      expect(await old()).toEqual([{ jobId: 'job_1', objects: ['answer-of-job_1'] }]);
    });

    test('takes the oldest first, up to the limit, and no job that ended later', async () => {
      await ended('job_2', AT + 2);
      await ended('job_1', AT + 1);
      await ended('job_3', AT + 50);

      expect((await old(AT + 50, 1)).map(({ jobId }) => jobId)).toEqual(['job_1']);
      expect((await old(AT + 50)).map(({ jobId }) => jobId)).toEqual(['job_1', 'job_2']);
    });

    test('removes everything of a job', async () => {
      await ended('job_1', AT, { idempotency: key('k', AT) });
      await jobs.removeJobs(['job_1']);

      for (const table of ['jobs', 'job_calls', 'task_events', 'attention', 'idempotency_keys'])
        expect([table, await rows(table)]).toEqual([table, 0]);
    });

    test('keeps jobs with a live key, and jobs that wait for a decision', async () => {
      await ended('job_keyed', AT, { idempotency: key('k', AT + 1) });
      await ended('job_waiting');
      await tasks.raise({ taskId: 'job_waiting', reason: 'unknown_outcome', detail: '', since: AT });

      expect(await old()).toEqual([]);
      await tasks.resolve('job_waiting', { resolution: 'failed', actor: 'ann', at: AT });
      expect((await old()).map(({ jobId }) => jobId)).toEqual(['job_waiting']);
    });
  });
}
