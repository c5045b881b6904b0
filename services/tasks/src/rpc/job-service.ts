import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import {
  CreateJobResponseSchema,
  JobLeaseSchema,
  LeaseJobsResponseSchema,
  LeasedJobSchema,
} from '@reelgate/proto/tasks/v1/job_service';
import type { CreateJobRequest, JobService, LeasedJob } from '@reelgate/proto/tasks/v1/job_service';
import type { EveryMember } from '../domain/every-member.ts';
import type { TokenReader } from '../operations/cached-tokens.ts';
import { createJob } from '../operations/jobs/create-job.ts';
import type { JobRequest } from '../operations/jobs/create-job.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { digestCall } from '../operations/creates/idempotency.ts';
import type { LeasedJobs } from '../operations/jobs/work-jobs.ts';
import {
  finishJob,
  getJob,
  leaseJobs,
  renewLeases,
  returnJob,
  startJob,
  withdrawJob,
} from '../operations/jobs/work-jobs.ts';
import { toWireJob, toWireNewJob } from '../operations/reads/work-messages.ts';
import { emptyToUndefined, readIdempotency } from './request-fields.ts';

/** Each method converts from the wire, runs an operation and converts to the wire. */
export function jobService(deps: JobDeps, tokens: TokenReader): Implementation<typeof JobService> {
  return {
    createJob: async (request, { requestId, signal, span }) => {
      const jobRequest = { ...(await toJobRequest(tokens, request)), requestId, span };
      const { job, replayed, lease } = await createJob(deps, jobRequest, signal);
      const waitMs = BigInt(deps.limits.deadlineMs);
      return toMessage(CreateJobResponseSchema, { job: toWireNewJob(job), replayed, lease, waitMs });
    },
    withdrawJob: async ({ lease }) => ({ withdrawn: await withdrawJob(deps, requireField(lease, 'lease')) }),
    getJob: async ({ accountId, jobId }, { span }) => {
      const job = await getJob(deps, accountId, jobId);
      span.link(job.trace);
      return { job: toWireJob(job) };
    },
    leaseJobs: async ({ worker, limit }) => {
      const { taken, lease, restMs } = await leaseJobs(deps, worker, limit);
      return toMessage(LeaseJobsResponseSchema, {
        leaseMs: BigInt(deps.limits.leaseMs),
        keepMs: BigInt(deps.limits.retentionMs),
        restMs: BigInt(restMs),
        jobs: taken.map((leased) => toWireLeased(leased, lease)),
      });
    },
    renewJobLeases: async ({ leases }) => ({
      lostJobIds: [...(await renewLeases(deps, leases))],
    }),
    markJobStarted: async ({ lease }) => {
      await startJob(deps, requireField(lease, 'lease'));
      return {};
    },
    returnJob: async ({ lease, untouched, delayMs }) => ({
      returned: await returnJob(deps, requireField(lease, 'lease'), { untouched, delayMs: Number(delayMs) }),
    }),
    finishJob: async ({ lease, answer, failure }) => ({
      finished: await finishJob(deps, requireField(lease, 'lease'), {
        answer,
        failure: failure && { code: failure.code, message: failure.message },
      }),
    }),
  };
}

function toWireLeased({ job, call, overdue }: LeasedJobs['taken'][number], lease: string): LeasedJob {
  return toMessage(LeasedJobSchema, {
    lease: toMessage(JobLeaseSchema, { jobId: job.id, lease }),
    accountId: job.accountId,
    tokenId: job.tokenId,
    visibleModels: [...job.visibleModels],
    requestId: job.requestId,
    call,
    callId: job.id,
    overdue,
    trace: job.trace,
  });
}

/** The visible models come from the token, never from the request. */
async function toJobRequest(
  tokens: TokenReader,
  request: CreateJobRequest,
): Promise<EveryMember<Omit<JobRequest, 'requestId' | 'span'>>> {
  const { models, makers, label } = await tokens.findRights(request.tokenId, request.accountId);
  const asked = requireField(request.call, 'call');
  const call = { ...asked, label: asked.label || (label ?? '') };
  const webhookUrl = emptyToUndefined(request.webhookUrl);
  return {
    accountId: request.accountId,
    tokenId: request.tokenId,
    makerIds: makers.map(({ tokenId }) => tokenId),
    visibleModels: models,
    call,
    repeatable: request.repeatable,
    leavesRoom: false,
    worker: emptyToUndefined(request.worker),
    webhookUrl,
    idempotency: readIdempotency(request, () => digestCall(call, request.repeatable, webhookUrl)),
  };
}
