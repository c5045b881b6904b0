import { maybeBegun } from '@reelgate/platform/service-unavailable';
import type { Span } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import { JOBS_TOTAL_SCOPE, jobTokenScope } from '../../domain/in-flight-scope.ts';
import { CREATE_LEASE } from '../../domain/job.ts';
import type { Job, NewJob } from '../../store/job-store.ts';
import type { JobDeps } from './job-deps.ts';
import { KEY_LIFETIME_MS } from '../creates/idempotency.ts';
import { keyInUse, keyReused, tooManyJobs } from '../task-refusals.ts';
import { assertWebhookUrl } from '../webhooks/webhook-refusals.ts';

export interface JobRequest {
  readonly accountId: string;
  readonly tokenId: string;
  /** The tokens that created this one, nearest first. The job counts against the limit of each. */
  readonly makerIds: readonly string[];
  readonly visibleModels: readonly string[];
  readonly requestId: string;
  /** The span of the call. Absent if it is not recorded. */
  readonly span?: Span | undefined;
  readonly call: JobCall;
  readonly repeatable: boolean;
  /** The worker that leases the job at once, to have it paid for. Absent if the job is queued. */
  readonly worker?: string | undefined;
  /** `lifetimeMs`: the time for which the key names the job. Default: a day. */
  readonly idempotency?:
    { readonly key: string; readonly fingerprint: string; readonly lifetimeMs?: number | undefined } | undefined;
  /** The URL that is called when the job ends. */
  readonly webhookUrl?: string | undefined;
  /** True if half of each limit is left to other calls. */
  readonly leavesRoom: boolean;
}

export interface CreateJobResult {
  readonly job: Job;
  readonly replayed: boolean;
  /** The lease of that worker. */
  readonly lease?: string | undefined;
}

/**
 * Accepts a call to be sent later. When this resolves, the call is durable, counted and stored under its key. If it
 * fails, or if the caller leaves first, the call is not stored.
 */
export async function createJob(deps: JobDeps, request: JobRequest, signal?: AbortSignal): Promise<CreateJobResult> {
  assertWebhookUrl(deps.webhookAllow, request.webhookUrl, 'webhook_url');
  const earlier = await findEarlier(deps, request);
  if (earlier !== undefined) return { job: earlier, replayed: true };
  const job = newJob(deps, request);
  const begun = await deps.jobs.beginJob(job, signal);
  if (begun === 'key_taken') return { job: await afterLostRace(deps, request), replayed: true };
  if (begun !== 'begun') throw tooManyJobs(request.makerIds.some((id) => jobTokenScope(id) === begun.capped));
  deps.log.info(
    { taskId: job.id, accountId: job.accountId, endpoint: job.call.endpoint, model: job.call.model },
    'a job was created',
  );
  if (job.lease === undefined) deps.announceQueued(job.id);
  return { job: await mustFind(deps, job.id), replayed: false, lease: job.lease?.name };
}

async function findEarlier({ jobs, clock }: JobDeps, { accountId, idempotency }: JobRequest): Promise<Job | undefined> {
  if (idempotency === undefined) return undefined;
  const record = await jobs.findKey(accountId, idempotency.key, clock.now());
  if (record === undefined) return undefined;
  if (record.fingerprint !== idempotency.fingerprint) throw keyReused();
  const job = await jobs.findJob(record.taskId);
  if (job === undefined || job.isBeingCreated) throw keyInUse();
  return job;
}

async function afterLostRace(deps: JobDeps, request: JobRequest): Promise<Job> {
  const earlier = await findEarlier(deps, request);
  if (earlier === undefined) throw keyInUse();
  return earlier;
}

function newJob(
  deps: JobDeps,
  { idempotency, worker, makerIds, leavesRoom, span = NO_SPAN, ...request }: JobRequest,
): NewJob {
  const { clock, newId, limits, tracing } = deps;
  const createdAt = clock.now();
  const trace = tracing.mint(span);
  const toCap = (limit: number): number => (leavesRoom ? Math.max(1, Math.floor(limit / 2)) : limit);
  return {
    ...request,
    id: newId('job'),
    createdAt,
    trace,
    traceParent: trace === undefined ? undefined : span.carrier,
    idempotency: idempotency && readKey(idempotency, createdAt),
    lease: worker === undefined ? undefined : { name: newId(CREATE_LEASE), worker, until: createdAt + limits.leaseMs },
    caps: [
      ...[request.tokenId, ...makerIds].map((id) => ({ scope: jobTokenScope(id), limit: toCap(limits.perToken) })),
      { scope: JOBS_TOTAL_SCOPE, limit: toCap(limits.total) },
    ],
  };
}

function readKey(
  { key, fingerprint, lifetimeMs = KEY_LIFETIME_MS }: NonNullable<JobRequest['idempotency']>,
  createdAt: number,
): NonNullable<NewJob['idempotency']> {
  return { key, fingerprint, expiresAt: createdAt + lifetimeMs };
}

async function mustFind({ jobs }: JobDeps, jobId: string): Promise<Job> {
  const job = await jobs.findJob(jobId).catch((error: unknown) => {
    throw maybeBegun(error);
  });
  if (job === undefined) throw new Error(`job ${jobId} was written and is not there`);
  return job;
}
