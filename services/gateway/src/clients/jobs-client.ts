import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Client } from '@reelgate/platform/rpc/service';
import type { Span } from '@reelgate/platform/trace/trace';
import { JobEncoding as WireEncoding } from '@reelgate/proto/tasks/v1/job';
import type { Job as WireJob, JobAnswer as WireAnswer } from '@reelgate/proto/tasks/v1/job';
import type { JobService, LeasedJob as WireLeased } from '@reelgate/proto/tasks/v1/job_service';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import { toPlainState } from './plain-task.ts';
import type { PlainState } from './plain-task.ts';
import { requireValue } from './wire-values.ts';

export type JobBytes = { readonly inline: Uint8Array } | { readonly object: string };

/** A request of a synchronous route that is sent later. */
export interface JobCall {
  readonly endpoint: string;
  readonly model: string;
  readonly method: string;
  readonly path: string;
  /** With its question mark. It can be empty. */
  readonly search: string;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: JobBytes;
  /** The client's label for the charge, undefined if there is none. */
  readonly label?: string | undefined;
}

export type JobEncoding = 'none' | EnumWord<typeof WireEncoding>;

export interface JobAnswer {
  readonly statusCode: number;
  readonly contentType: string;
  readonly encoding: JobEncoding;
  readonly size: number;
  readonly body: JobBytes;
}

export interface JobFailure {
  readonly code: string;
  readonly message: string;
}

export interface Job {
  readonly id: string;
  readonly state: PlainState;
  readonly answer: JobAnswer | undefined;
  readonly failure: JobFailure | undefined;
}

export interface JobLease {
  readonly jobId: string;
  readonly lease: string;
}

/** A job that this process runs until the lease ends. */
export interface LeasedJob {
  readonly lease: JobLease;
  readonly accountId: string;
  readonly tokenId: string;
  readonly visibleModels: readonly string[];
  readonly requestId: string;
  readonly call: JobCall;
  /** Identifies the call at billing. */
  readonly callId: string;
  /** The job has waited too long and must be ended. */
  readonly isOverdue: boolean;
  /** The trace context that its runs continue, undefined if the job is not recorded. */
  readonly carrier?: string | undefined;
}

export interface LeasedJobs {
  readonly jobs: readonly LeasedJob[];
  readonly leaseMs: number;
  readonly keepMs: number;
  /** The time in milliseconds in which no job becomes due without an announcement, or 0 if it is not known. */
  readonly restMs: number;
}

export interface NewJob {
  readonly accountId: string;
  readonly tokenId: string;
  readonly call: JobCall;
  /** A second call has no effect. */
  readonly isRepeatable: boolean;
  /** The worker that leases the job until it is paid for, undefined if the job is queued immediately. */
  readonly worker: string | undefined;
  /** The URL that is called when the job ends. */
  readonly webhookUrl?: string | undefined;
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined;
}

/** The jobs of the tasks service, in the gateway's types. */
export interface Jobs {
  create(
    job: NewJob,
    caller: Caller,
  ): Promise<{
    readonly id: string;
    readonly replayed: boolean;
    readonly lease: string | undefined;
    readonly waitMs: number;
  }>;
  withdraw(lease: JobLease): Promise<void>;
  get(accountId: string, jobId: string, requestId: string, span?: Span): Promise<Job>;
  lease(worker: string, limit: number): Promise<LeasedJobs>;
  /** Extends leases. Returns the ids of the jobs that have lost their lease. */
  renew(leases: readonly JobLease[]): Promise<readonly string[]>;
  /** Records the intent before the upstream is called. Refuses if the lease is over. */
  start(lease: JobLease, span?: Span): Promise<void>;
  /** `untouched`: the upstream was certainly not called. */
  giveBack(lease: JobLease, how: { readonly untouched: boolean; readonly delayMs: number }, span?: Span): Promise<void>;
  finish(
    lease: JobLease,
    end: { readonly answer?: JobAnswer | undefined; readonly failure?: JobFailure | undefined },
    span?: Span,
  ): Promise<void>;
}

export function jobsClient(rpc: Client<typeof JobService>): Jobs {
  return {
    create: async ({ call, isRepeatable, worker = '', webhookUrl = '', idempotency, ...who }, caller) => {
      const { job, replayed, lease, waitMs } = await rpc.createJob(
        {
          ...who,
          call: toWireCall(call),
          repeatable: isRepeatable,
          worker,
          webhookUrl,
          idempotencyKey: idempotency?.key ?? '',
          requestFingerprint: idempotency?.fingerprint ?? '',
        },
        withDeadline(caller),
      );
      return { id: requireValue(job).id, replayed, lease: lease === '' ? undefined : lease, waitMs: Number(waitMs) };
    },
    withdraw: async (lease) => {
      await rpc.withdrawJob({ lease }, withDeadline({}));
    },
    get: async (accountId, jobId, requestId, span) =>
      fromWireJob(requireValue((await rpc.getJob({ accountId, jobId }, withDeadline({ requestId, span }))).job)),
    lease: async (worker, limit) => {
      const { jobs, leaseMs, keepMs, restMs } = await rpc.leaseJobs({ worker, limit }, withDeadline({}));
      return {
        jobs: jobs.map(fromWireLeased),
        leaseMs: Number(leaseMs),
        keepMs: Number(keepMs),
        restMs: Number(restMs),
      };
    },
    renew: async (leases) => (await rpc.renewJobLeases({ leases: [...leases] }, withDeadline({}))).lostJobIds,
    start: async (lease, span) => {
      await rpc.markJobStarted({ lease }, withDeadline({ span }));
    },
    giveBack: async (lease, { untouched, delayMs }, span) => {
      await rpc.returnJob({ lease, untouched, delayMs: BigInt(Math.round(delayMs)) }, withDeadline({ span }));
    },
    finish: async (lease, { answer, failure }, span) => {
      await rpc.finishJob(
        {
          lease,
          ...(answer === undefined ? {} : { answer: toWireAnswer(answer) }),
          ...(failure === undefined ? {} : { failure }),
        },
        withDeadline({ span }),
      );
    },
  };
}

const ENCODINGS = { none: WireEncoding.UNSPECIFIED, ...deriveValues(WireEncoding) };
const ENCODING_WORDS: Readonly<Record<number, JobEncoding | undefined>> = deriveWords(WireEncoding, 'none');

export function toWireCall({ search, headers, body, label = '', ...call }: JobCall) {
  const pairs = Array.from({ length: Math.floor(headers.length / 2) }, (_, index) => ({
    name: headers[2 * index] ?? '',
    value: headers[2 * index + 1] ?? '',
  }));
  return { ...call, query: search.replace(/^\?/, ''), headers: pairs, body: toWireBytes(body), label };
}

function toWireAnswer({ encoding, size, body, ...answer }: JobAnswer) {
  return { ...answer, encoding: ENCODINGS[encoding], size: BigInt(size), body: toWireBytes(body) };
}

function toWireBytes(body: JobBytes) {
  return 'object' in body
    ? { case: 'object' as const, value: body.object }
    : { case: 'inline' as const, value: body.inline };
}

function fromWireBytes(body: WireAnswer['body']): JobBytes {
  return body.case === 'object'
    ? { object: body.value }
    : { inline: body.case === 'inline' ? body.value : new Uint8Array() };
}

export function fromWireJob({ id, state, answer, failure }: WireJob): Job {
  return {
    id,
    state: toPlainState(state, 'in_progress'),
    answer:
      answer === undefined
        ? undefined
        : {
            statusCode: answer.statusCode,
            contentType: answer.contentType,
            size: Number(answer.size),
            body: fromWireBytes(answer.body),
            encoding: ENCODING_WORDS[answer.encoding] ?? 'base64',
          },
    failure: failure === undefined ? undefined : { code: failure.code, message: failure.message },
  };
}

function fromWireLeased({ lease, call, overdue, ...who }: WireLeased): LeasedJob {
  const { endpoint, model, method, path, query, headers, body, label } = requireValue(call);
  return {
    accountId: who.accountId,
    tokenId: who.tokenId,
    visibleModels: who.visibleModels,
    requestId: who.requestId,
    callId: who.callId,
    isOverdue: overdue,
    carrier: who.trace === '' ? undefined : who.trace,
    lease: { jobId: requireValue(lease).jobId, lease: requireValue(lease).lease },
    call: {
      endpoint,
      model,
      method,
      path,
      search: query === '' ? '' : `?${query}`,
      headers: headers.flatMap(({ name, value }) => [name, value]),
      body: fromWireBytes(body),
      label: label || undefined,
    },
  };
}
