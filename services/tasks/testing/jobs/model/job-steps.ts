import fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import type { JobLease } from '../../../src/domain/job.ts';
import { newCallDraws } from '../../store/model/drawn-calls.ts';
import type { Aims, DrawnCall, DrawnStep } from '../../store/model/drawn-calls.ts';
import { aCall, aNewJob, anAnswer } from '../new-jobs.ts';
import { listNextJobs, listOldJobs } from './model-job-store.ts';
import type { JobsState, ModelJob, ModelledJobs } from './model-job-store.ts';

type JobCallDrawn = DrawnCall<JobsState, ModelledJobs>;
export type JobStep = DrawnStep<JobsState, ModelledJobs>;
type Bind = JobStep['bind'];

export const JOB_IDS = ['job_1', 'job_2', 'job_3', 'job_4', 'job_5', 'job_6', 'job_7'] as const;
const ALL = 100;
/** Of this many calls, one takes any lease that was ever given, and the others one that is held. */
const ONE_UNAIMED_OF = 6;
const NO_LEASE: JobLease = { jobId: 'job_1', lease: 'lease_of_nobody' };

const soonMs = fc.integer({ min: 0, max: 4000 });
const limit = fc.constantFrom(1, 2, ALL);
const nothing = fc.constant(undefined);

const bodies = (object: string): Arbitrary<JobCall['body']> =>
  fc.constantFrom<JobCall['body']>(
    { case: 'inline', value: new TextEncoder().encode('{}') },
    { case: 'object', value: object },
  );

const { plain, aim } = newCallDraws<JobsState, ModelledJobs>(ONE_UNAIMED_OF);

/** A call under a lease that meets the condition, or under any that was given. */
function underLease<T>(
  isMeant: (one: ModelJob) => boolean,
  drawn: Arbitrary<T>,
  make: (lease: JobLease, drawn: T, held: ModelJob | undefined) => JobCallDrawn,
): Arbitrary<Bind> {
  const findHeld = ({ jobs }: JobsState, { jobId, lease }: JobLease): ModelJob | undefined =>
    jobs.find((one) => one.job.id === jobId && one.lease === lease);
  const leases: Aims<JobsState, JobLease> = {
    meant: ({ jobs }) =>
      jobs.flatMap((one) =>
        one.lease === undefined || !isMeant(one) ? [] : [{ jobId: one.job.id, lease: one.lease }],
      ),
    any: ({ given }) => (given.length === 0 ? [NO_LEASE] : given),
  };
  return aim(leases, drawn, (lease, given, state) => make(lease, given, findHeld(state, lease)));
}

const key = fc.option(fc.record({ key: fc.constantFrom('key-1', 'key-2'), forMs: fc.constantFrom(0, 3000, 100_000) }), {
  nil: undefined,
});
const begin = plain(
  fc.record({
    token: fc.constantFrom(1, 2, 2, 3),
    key,
    perToken: fc.constantFrom(1, 3, 64, 200),
    total: fc.constantFrom(4, 64, 200),
    leaseMs: fc.option(soonMs, { nil: undefined }),
    body: bodies('obj-body'),
    repeatable: fc.boolean(),
    webhookUrl: fc.constantFrom(undefined, 'https://hooks.example/1'),
  }),
  ({ token, key: named, perToken, total, leaseMs, body, ...job }, { begun, given }) => {
    const id = JOB_IDS.find((one) => !begun.includes(one)) ?? '';
    const tokenId = `token_${token}`;
    const lease = `create_${given.length}`;
    const caps = [
      { scope: `jobs:token:${tokenId}`, limit: perToken },
      { scope: 'jobs:total', limit: total },
    ];
    return {
      name: `beginJob ${id} ${JSON.stringify({ token, key: named, perToken, total, leaseMs, body, ...job })}`,
      begins: id,
      isAllowed: () => id !== '',
      call: (store, at) =>
        store.beginJob(
          aNewJob(id, {
            ...{
              ...job,
              tokenId,
              caps,
              createdAt: at,
              accountId: `account_${Math.min(token, 2)}`,
              call: aCall({ body }),
            },
            idempotency:
              named === undefined ? undefined : { key: named.key, fingerprint: 'print', expiresAt: at + named.forMs },
            lease: leaseMs === undefined ? undefined : { name: lease, worker: 'gateway', until: at + leaseMs },
          }),
        ),
    };
  },
);

const isQueued = ({ job }: ModelJob): boolean => job.state === 'queued';
const isAny = (): boolean => true;

/** Each job is taken by one of several workers, so a lease may leave out those that another one has locked. */
const take = plain(
  fc.tuple(fc.constantFrom('worker_1', 'worker_2'), soonMs, limit),
  ([worker, leaseMs, most], { given }) => {
    const lease = `lease_${given.length}`;
    return {
      name: `leaseJobs ${worker}, at most ${most}, for ${leaseMs} ms, as ${lease}`,
      isUnordered: true,
      isAllowed: (state, at) => {
        const next = listNextJobs(state, at);
        const [last, first] = [next[most - 1], next[most]];
        return first === undefined || last?.rank !== first.rank || last.one.dueAt !== first.one.dueAt;
      },
      call: (store, at) => store.leaseJobs({ worker, lease, now: at, until: at + leaseMs, limit: most }),
    };
  },
);

const ofLeases: readonly Arbitrary<Bind>[] = [
  underLease(isQueued, nothing, (lease) => ({
    name: `startJob ${lease.jobId} under ${lease.lease}`,
    call: (store, at) => store.startJob(lease, at),
  })),
  underLease(isAny, fc.tuple(soonMs, fc.constantFrom(0, 0, 1)), (lease, [ms, more], held) => {
    const starts = (held?.job.starts ?? 0) + more;
    return {
      name: `requeueJob ${lease.jobId} under ${lease.lease} after ${starts} starts, due in ${ms} ms`,
      call: (store, at) => store.requeueJob(lease, { starts, at, dueAt: at + ms, why: 'the worker stops' }),
    };
  }),
  underLease(isAny, soonMs, (lease, ms) => ({
    name: `renewLeases ${lease.jobId} under ${lease.lease} for ${ms} ms`,
    call: (store, at) => store.renewLeases([lease], at, at + ms),
  })),
  underLease(isQueued, nothing, (lease) => ({
    name: `withdrawJob ${lease.jobId} under ${lease.lease}`,
    call: (store) => store.withdrawJob(lease),
  })),
];
const finish = underLease(
  isAny,
  fc.record({
    isCompleted: fc.boolean(),
    body: bodies('obj-answer'),
    needsPerson: fc.boolean(),
  }),
  (lease, { isCompleted, body, needsPerson }) => ({
    name: `finishJob ${lease.jobId} under ${lease.lease} ${JSON.stringify({ isCompleted, body, needsPerson })}`,
    call: (store, at) =>
      store.finishJob(lease, {
        at,
        ...(isCompleted
          ? { state: 'completed', answer: anAnswer({ body }) }
          : { state: 'failed', failure: { code: 'outcome_unknown', message: 'not known' } }),
        ...(needsPerson ? { attention: { reason: 'unknown_outcome', detail: 'see the upstream' } } : {}),
      }),
  }),
);
const sweeps: readonly Arbitrary<Bind>[] = [
  plain(nothing, () => ({ name: 'endLeases', call: (store, at) => store.endLeases(at) })),
  plain(nothing, (_, state) => {
    const given = [...state.given];
    return {
      name: 'renewLeases of all that were given',
      call: (store, at) => store.renewLeases(given, at, at + 1000),
    };
  }),
];

const lists: readonly Arbitrary<Bind>[] = [
  plain(nothing, () => ({ name: 'findFirstDue', call: (store) => store.findFirstDue() })),
  plain(nothing, () => ({ name: 'lostJobs', isUnordered: true, call: (store, at) => store.lostJobs(at, ALL) })),
  plain(nothing, () => ({ name: 'pendingJobs', isUnordered: true, call: (store) => store.pendingJobs() })),
  plain(
    fc.tuple(
      fc.record(
        { accountId: fc.constantFrom('account_1', 'account_2'), state: fc.constantFrom('queued', 'failed') },
        {
          requiredKeys: [],
        },
      ),
      fc.record({ limit, after: fc.constantFrom(...JOB_IDS) }, { requiredKeys: ['limit'] }),
    ),
    ([filter, page]) => ({
      name: `listJobs ${JSON.stringify(filter)} ${JSON.stringify(page)}`,
      call: (store) => store.listJobs(filter, page),
    }),
  ),
  plain(nothing, () => ({ name: 'spentBodies', isUnordered: true, call: (store) => store.spentBodies(ALL) })),
  plain(soonMs, (ms) => ({
    name: `oldJobs of ${ms} ms ago`,
    isUnordered: true,
    call: (store, at) => store.oldJobs({ before: at - ms, now: at, limit: ALL }),
  })),
];
const retention: readonly Arbitrary<Bind>[] = [
  plain(nothing, () => ({
    name: 'forgetBodies of all',
    call: (store) => store.forgetBodies(JOB_IDS),
  })),
  plain(soonMs, (ms, state) => {
    const ids = (at: number): string[] => listOldJobs(state, at - ms, at).map(({ job }) => job.id);
    let chosen: readonly string[] = [];
    return {
      name: `removeJobs that ended ${ms} ms ago`,
      // the ids are those that were old before the first store removed them
      isAllowed: (_state, at) => {
        chosen = ids(at);
        return chosen.length > 0;
      },
      call: (store) => store.removeJobs(chosen),
    };
  }),
];

const waiting = [
  { weight: 14, arbitrary: begin },
  { weight: 16, arbitrary: fc.oneof(...ofLeases) },
  { weight: 7, arbitrary: finish },
  { weight: 3, arbitrary: fc.oneof(...sweeps) },
  { weight: 2, arbitrary: fc.oneof(...retention) },
];
const others = [
  { weight: 12, arbitrary: take },
  { weight: 8, arbitrary: fc.oneof(...lists) },
];

const afterMs = fc.oneof(
  { weight: 2, arbitrary: fc.constant(0) },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 2000 }) },
  { weight: 1, arbitrary: fc.constant(-10_000) },
);

function drawSteps(bind: Arbitrary<Bind>): Arbitrary<JobStep> {
  return fc.record({ bind, afterMs, by: fc.constantFrom<0 | 1>(0, 1) });
}

/** Any call of the port, by one of two processes. */
export const drawJobStep: Arbitrary<JobStep> = drawSteps(fc.oneof(...waiting, ...others));

/** A call that waits for the locks of another one. */
export const drawLockingJobStep: Arbitrary<JobStep> = drawSteps(fc.oneof(...waiting));
