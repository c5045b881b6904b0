import type { JobAnswer, JobCall } from '@reelgate/proto/tasks/v1/job';
import type { JobLease } from '../../../src/domain/job.ts';
import { CREATE_LEASE } from '../../../src/domain/job.ts';
import type {
  Job,
  JobBeginStore,
  JobFinishStore,
  JobLeaseStore,
  JobReader,
  JobRetentionStore,
  JobStore,
  NewJob,
  PendingJobReader,
} from '../../../src/store/job-store.ts';

export type ModelledJobs = JobStore & JobRetentionStore;

/** A job with what the store keeps beside its members. */
export interface ModelJob {
  job: Job;
  call: JobCall | undefined;
  dueAt: number | undefined;
  lease: string | undefined;
  leaseUntil: number | undefined;
  scopes: readonly string[];
  bodyObject: string | undefined;
  answerObject: string | undefined;
  /** Its owner may not have it removed before a person has decided. */
  isWaiting: boolean;
}

/** What a store of jobs holds: plain data. */
export interface JobsState {
  jobs: ModelJob[];
  keys: { readonly accountId: string; readonly key: string; readonly jobId: string; readonly expiresAt: number }[];
  /** The ids of all jobs that were ever written. */
  readonly begun: string[];
  /** The leases that were ever given. */
  readonly given: JobLease[];
  /** The events for clients, in words. */
  readonly events: string[];
}

export function newJobsState(): JobsState {
  return { jobs: [], keys: [], begun: [], given: [], events: [] };
}

/** The port of jobs in memory: what the contract says, in plain code. Lists without an order come in any order. */
export function modelJobStore(state: JobsState): ModelledJobs {
  return {
    ...modelBegins(state),
    ...modelLeases(state),
    ...modelFinish(state),
    ...modelReads(state),
    ...modelRetention(state),
  };
}

function findLeased(state: JobsState, { jobId, lease }: JobLease): ModelJob | undefined {
  return state.jobs.find((one) => one.job.id === jobId && one.lease === lease);
}

function readObject(body: (JobCall | JobAnswer)['body'] | undefined): string | undefined {
  return body?.case === 'object' ? body.value : undefined;
}

function changeJob(one: ModelJob, changes: Partial<Job>): void {
  one.job = { ...one.job, ...changes };
}

function modelBegins(state: JobsState): JobBeginStore {
  const count = (scope: string): number => state.jobs.filter(({ scopes }) => scopes.includes(scope)).length;
  return {
    beginJob: async (job) => {
      const { accountId, createdAt, idempotency, caps, lease } = job;
      const isSameKey = (one: { accountId: string; key: string }): boolean =>
        one.accountId === accountId && one.key === idempotency?.key;
      if (state.keys.some((one) => isSameKey(one) && one.expiresAt > createdAt)) return 'key_taken';
      const full = caps.find(({ scope, limit }) => count(scope) >= limit);
      if (full !== undefined) return { capped: full.scope };
      if (idempotency !== undefined) {
        state.keys = state.keys.filter((one) => !isSameKey(one));
        state.keys.push({ accountId, key: idempotency.key, jobId: job.id, expiresAt: idempotency.expiresAt });
      }
      state.begun.push(job.id);
      if (lease !== undefined) state.given.push({ jobId: job.id, lease: lease.name });
      state.jobs.push(newModelJob(job));
      return 'begun';
    },
    withdrawJob: async (lease) => {
      const found = findLeased(state, lease);
      if (found === undefined || found.job.starts > 0) return undefined;
      state.jobs = state.jobs.filter((one) => one !== found);
      state.keys = state.keys.filter(({ jobId }) => jobId !== lease.jobId);
      return found.job;
    },
  };
}

function newModelJob(job: NewJob): ModelJob {
  const { id, accountId, tokenId, visibleModels, requestId, repeatable, createdAt, call, caps, lease } = job;
  return {
    job: {
      ...{ id, accountId, tokenId, visibleModels, requestId, repeatable, createdAt },
      ...{ endpoint: call.endpoint, model: call.model, state: 'queued', starts: 0, updatedAt: createdAt },
      isBeingCreated: lease?.name.startsWith(`${CREATE_LEASE}_`) ?? false,
    },
    call,
    dueAt: lease === undefined ? createdAt : undefined,
    lease: lease?.name,
    leaseUntil: lease?.until,
    scopes: caps.map(({ scope }) => scope),
    bodyObject: readObject(call.body),
    answerObject: undefined,
    isWaiting: false,
  };
}

/** A due job, and its place among those of all tokens. */
export interface NextJob {
  readonly one: ModelJob;
  readonly rank: number;
}

/** The due jobs in the order in which they are given: one of each token in turn, counting what the token has already. */
export function listNextJobs({ jobs }: JobsState, now: number): readonly NextJob[] {
  const due = jobs
    .filter(({ dueAt }) => dueAt !== undefined && dueAt <= now)
    .toSorted((one, other) => compareDue(one, other) || (one.job.id < other.job.id ? -1 : 1));
  const accountOf = ({ job }: ModelJob): string => job.accountId;
  const tokenOf = ({ job }: ModelJob): string => `${job.accountId} ${job.tokenId}`;
  const ofTokens = rankBy(tokenOf, due, jobs).toSorted(compareRanks);
  return rankBy(
    accountOf,
    ofTokens.map(({ one }) => one),
    jobs,
  ).toSorted(compareRanks);
}

/** Each job in the turns of those that share its key, after the jobs that already run. */
function rankBy(
  readKey: (one: ModelJob) => string,
  due: readonly ModelJob[],
  jobs: readonly ModelJob[],
): readonly NextJob[] {
  const turns = new Map<string, number>();
  return due.map((one) => {
    const key = readKey(one);
    const held = jobs.filter((other) => readKey(other) === key && other.leaseUntil !== undefined).length;
    const turn = (turns.get(key) ?? 0) + 1;
    turns.set(key, turn);
    return { one, rank: held + turn };
  });
}

function compareRanks(one: NextJob, other: NextJob): number {
  return one.rank - other.rank || compareDue(one.one, other.one);
}

function compareDue(one: ModelJob, other: ModelJob): number {
  return (one.dueAt ?? 0) - (other.dueAt ?? 0);
}

function modelLeases(state: JobsState): JobLeaseStore {
  const isValid = ({ leaseUntil }: ModelJob, now: number): boolean => leaseUntil !== undefined && leaseUntil > now;
  return {
    findFirstDue: async () => {
      const first = Math.min(...state.jobs.map(({ dueAt = Infinity }) => dueAt));
      return first === Infinity ? undefined : first;
    },
    leaseJobs: async ({ lease, now, until, limit }) => {
      const taken = listNextJobs(state, now).slice(0, limit);
      for (const { one } of taken) {
        Object.assign(one, { lease, leaseUntil: until, dueAt: undefined });
        changeJob(one, { isBeingCreated: false });
        state.given.push({ jobId: one.job.id, lease });
      }
      return taken.flatMap(({ one: { job, call } }) => (call === undefined ? [] : [{ job, call }]));
    },
    renewLeases: async (leases, now, until) => {
      const kept = leases.map((lease) => findLeased(state, lease)).filter((one) => one !== undefined);
      const valid = kept.filter((one) => isValid(one, now));
      for (const one of valid) one.leaseUntil = until;
      return new Set(valid.map(({ job }) => job.id));
    },
    endLeases: async (now) => {
      const valid = state.jobs.filter((one) => isValid(one, now));
      for (const one of valid) one.leaseUntil = now;
      return valid.length;
    },
    startJob: async (lease, at) => {
      const found = findLeased(state, lease);
      if (found === undefined || !isValid(found, at) || found.job.state !== 'queued') return false;
      changeJob(found, { state: 'in_progress', starts: found.job.starts + 1, updatedAt: at });
      return true;
    },
    requeueJob: async (lease, { starts, at, dueAt }) => {
      const found = findLeased(state, lease);
      if (found === undefined || found.job.starts !== starts) return false;
      Object.assign(found, { dueAt, lease: undefined, leaseUntil: undefined });
      changeJob(found, { state: 'queued', updatedAt: at, isBeingCreated: false });
      return true;
    },
    lostJobs: async (now, limit) =>
      state.jobs
        .filter(({ leaseUntil }) => leaseUntil !== undefined && leaseUntil <= now)
        .slice(0, limit)
        .map(({ job, lease = '' }) => ({ job, lease: { jobId: job.id, lease } })),
  };
}

function modelFinish(state: JobsState): JobFinishStore {
  return {
    finishJob: async (lease, { state: end, at, answer, failure, attention }) => {
      const found = findLeased(state, lease);
      if (found === undefined) return false;
      changeJob(found, { state: end, finishedAt: at, updatedAt: at, answer, failure, isBeingCreated: false });
      Object.assign(found, { lease: undefined, leaseUntil: undefined, dueAt: undefined, call: undefined, scopes: [] });
      found.answerObject = readObject(answer?.body);
      found.isWaiting = attention !== undefined;
      state.events.push(`${found.job.accountId} job.${end} ${lease.jobId} ${at}`);
      return true;
    },
  };
}

function modelReads(state: JobsState): JobReader & PendingJobReader {
  return {
    findJob: async (jobId) => state.jobs.find(({ job }) => job.id === jobId)?.job,
    listJobs: async (filter, { limit, after }) =>
      state.jobs
        .map(({ job }) => job)
        .filter((job) => filter.accountId === undefined || job.accountId === filter.accountId)
        .filter((job) => filter.state === undefined || job.state === filter.state)
        .filter(({ id }) => after === undefined || id < after)
        .toSorted((one, other) => (one.id < other.id ? 1 : -1))
        .slice(0, limit),
    pendingJobs: async () => {
      const pending = state.jobs.map(({ job }) => job).filter(({ finishedAt }) => finishedAt === undefined);
      return [...Map.groupBy(pending, (job) => job.state)].map(([name, some]) => ({
        state: name,
        count: some.length,
        oldestAt: Math.min(...some.map(({ createdAt }) => createdAt)),
      }));
    },
  };
}

/** The jobs that ended before a time, and that nothing needs. */
export function listOldJobs({ jobs, keys }: JobsState, before: number, now: number): readonly ModelJob[] {
  return jobs.filter(({ job, isWaiting }) => {
    const hasLiveKey = keys.some(({ jobId, expiresAt }) => jobId === job.id && expiresAt > now);
    return (job.finishedAt ?? Infinity) < before && !isWaiting && !hasLiveKey;
  });
}

function modelRetention(state: JobsState): JobRetentionStore {
  return {
    spentBodies: async (limit) =>
      state.jobs
        .flatMap(({ job, bodyObject }) =>
          job.finishedAt === undefined || bodyObject === undefined ? [] : [{ jobId: job.id, object: bodyObject }],
        )
        .slice(0, limit),
    forgetBodies: async (jobIds) => {
      for (const one of state.jobs)
        if (jobIds.includes(one.job.id) && one.job.finishedAt !== undefined) one.bodyObject = undefined;
    },
    oldJobs: async ({ before, now, limit }) =>
      listOldJobs(state, before, now)
        .map(({ job, bodyObject, answerObject }) => ({
          jobId: job.id,
          objects: [bodyObject, answerObject].filter((object) => object !== undefined),
        }))
        .slice(0, limit),
    removeJobs: async (jobIds) => {
      state.jobs = state.jobs.filter(({ job }) => !jobIds.includes(job.id));
      state.keys = state.keys.filter(({ jobId }) => !jobIds.includes(jobId));
    },
  };
}
