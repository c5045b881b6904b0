import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import type { CreateJobRequest, FinishJobRequest } from '@reelgate/proto/tasks/v1/job_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';

export interface FakeJob {
  readonly id: string;
  readonly request: CreateJobRequest;
  state: TaskState;
  lease: string;
  starts: number;
  end: FinishJobRequest | undefined;
}

/** The jobs of the tasks service, in memory and without time. */
export interface FakeJobs {
  readonly client: Client<typeof JobService>;
  /** Each call with its job. */
  readonly calls: string[];
  readonly jobs: Map<string, FakeJob>;
  /** The number of renewed leases. */
  readonly renewed: number;
  /** The jobs that are reported as overdue. */
  readonly overdue: Set<string>;
  /** The leases that have expired. */
  readonly lost: Set<string>;
  /** Makes the next `count` calls of the method fail. */
  fail(method: string, times?: number, problem?: Error): void;
  single(): FakeJob;
}

const KEEP_MS = 90n * 24n * 3_600_000n;
const LEASE_MS = 3000n;

/** `onQueued` gets each job that a worker may lease, `onEnded` each job that has ended. */
export function fakeJobs(
  onQueued: (jobId: string) => void = () => undefined,
  onEnded: (job: { readonly jobId: string; readonly accountId: string }) => void = () => undefined,
): FakeJobs {
  const calls: string[] = [];
  const jobs = new Map<string, FakeJob>();
  const overdue = new Set<string>();
  const lost = new Set<string>();
  const failures = new Map<string, { left: number; problem: Error }>();
  const called = (method: string, jobId = ''): void => {
    if (method !== 'leaseJobs' && method !== 'renewJobLeases') calls.push(`${method} ${jobId}`.trim());
    const failure = failures.get(method);
    if (failure === undefined || failure.left === 0) return;
    failure.left -= 1;
    throw failure.problem;
  };
  let leases = 0;
  let made = 0;
  let renewed = 0;
  const held = ({ jobId = '', lease = '' }: { jobId?: string; lease?: string } = {}): FakeJob | undefined => {
    const job = jobs.get(jobId);
    return job?.lease === lease && !lost.has(jobId) ? job : undefined;
  };
  const client = directClient(
    JobService,
    bind(JobService, {
      createJob: async (request) => {
        called('createJob');
        const earlier = [...jobs.values()].find(
          (job) =>
            request.idempotencyKey !== '' &&
            job.request.idempotencyKey === request.idempotencyKey &&
            job.request.accountId === request.accountId,
        );
        if (earlier !== undefined && earlier.request.requestFingerprint !== request.requestFingerprint)
          throw new Problem({
            kind: 'unprocessable',
            reason: 'idempotency_key_reused',
            message: 'this key was used with another request',
          });
        if (earlier !== undefined) return { job: { id: earlier.id }, replayed: true };
        const id = `job_${String((made += 1)).padStart(26, '0')}`;
        const lease = request.worker === '' ? '' : `create_${id}`;
        jobs.set(id, { id, request, state: TaskState.QUEUED, lease, starts: 0, end: undefined });
        if (lease === '') onQueued(id);
        return { job: { id, state: TaskState.QUEUED }, lease, waitMs: 3_600_000n };
      },
      withdrawJob: async ({ lease }) => {
        called('withdrawJob', lease?.jobId);
        return { withdrawn: held(lease) !== undefined && jobs.delete(lease?.jobId ?? '') };
      },
      getJob: async ({ accountId, jobId }) => {
        called('getJob', jobId);
        const job = jobs.get(jobId);
        if (job?.request.accountId !== accountId)
          throw new Problem({
            kind: 'not_found',
            reason: 'task_not_found',
            message: 'there is no such asynchronous call',
          });
        return {
          job: {
            id: job.id,
            accountId,
            state: job.state,
            ...(job.end?.answer === undefined ? {} : { answer: job.end.answer }),
            ...(job.end?.failure === undefined ? {} : { failure: job.end.failure }),
          },
        };
      },
      leaseJobs: async ({ limit }) => {
        called('leaseJobs');
        const lease = `lease_${(leases += 1)}`;
        const taken = [...jobs.values()]
          .filter((job) => job.state === TaskState.QUEUED && job.lease === '')
          .slice(0, limit);
        for (const job of taken) job.lease = lease;
        return {
          leaseMs: LEASE_MS,
          keepMs: KEEP_MS,
          jobs: taken.map(({ id, request: { accountId, tokenId, call } }) => ({
            lease: { jobId: id, lease },
            accountId,
            tokenId,
            visibleModels: ['*'],
            requestId: 'req_of_the_create',
            callId: id,
            overdue: overdue.has(id),
            ...(call === undefined ? {} : { call }),
          })),
        };
      },
      renewJobLeases: async (request) => {
        called('renewJobLeases');
        renewed += 1;
        return { lostJobIds: request.leases.filter((lease) => held(lease) === undefined).map(({ jobId }) => jobId) };
      },
      markJobStarted: async ({ lease }) => {
        called('markJobStarted', lease?.jobId);
        const job = held(lease);
        if (job === undefined)
          throw new Problem({ kind: 'conflict', reason: 'job_lease_lost', message: 'this lease of the job is over' });
        job.state = TaskState.IN_PROGRESS;
        job.starts += 1;
        return {};
      },
      returnJob: async ({ lease, untouched, delayMs }) => {
        called(`returnJob ${untouched ? 'untouched' : 'unknown'} ${delayMs}`, lease?.jobId);
        const job = held(lease);
        if (job === undefined) return { returned: false };
        job.lease = delayMs > 0n ? 'later' : '';
        job.state = untouched ? TaskState.QUEUED : TaskState.FAILED;
        if (job.lease === '' && untouched) onQueued(job.id);
        return { returned: true };
      },
      finishJob: async (request) => {
        called('finishJob', request.lease?.jobId);
        const job = held(request.lease);
        if (job === undefined) return { finished: false };
        job.state = request.failure === undefined ? TaskState.COMPLETED : TaskState.FAILED;
        job.end = request;
        onEnded({ jobId: job.id, accountId: job.request.accountId });
        return { finished: true };
      },
    }),
    aCaller(),
  );
  return {
    client,
    calls,
    jobs,
    overdue,
    lost,
    get renewed() {
      return renewed;
    },
    fail: (
      method,
      times = 1,
      problem = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'not now' }),
    ) => {
      failures.set(method, { left: times, problem });
    },
    single: () => {
      const [job, ...more] = jobs.values();
      if (job === undefined || more.length > 0) throw new Error(`there are ${jobs.size} jobs`);
      return job;
    },
  };
}
