import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { inRequest, inTrace } from '@reelgate/platform/request-context';
import { Problem } from '@reelgate/platform/problem';
import type { Span, Tracing } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import type { JobLease, LeasedJob } from '@reelgate/proto/tasks/v1/job_service';
import { withDeadline } from '../clients/caller.ts';
import type { JobsClient } from '../clients/tasks-client.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import { matchPath } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { RelayCall } from '../relay/requests/relay-call.ts';
import { parseCall } from '../relay/routes/read-call.ts';
import type { Relay } from '../relay/relay.ts';
import { chooseEncoding, collectingSink, readFailure, toRefusalAnswer } from './collected-answer.ts';
import type { CollectedAnswer, CollectingSink, Failure } from './collected-answer.ts';
import { keepBytes, readBytes } from './job-bytes.ts';
import { HOLD_SLACK_MS } from './create-job.ts';

/** The time for which a result is written again while tasks or media cannot be reached. */
const WRITE_FOR_MS = 30_000;
const WRITE_PAUSE_MS = 500;
const SUCCESS_BELOW = 300;
const LATER = { leastMs: 1000, mostMs: 60_000, unknownMs: 5000 };

const EXPIRED: Failure = { code: 'expired', message: 'the call did not start before its deadline' };
const LOST: Failure = { code: 'internal_error', message: 'the request is no longer stored' };
const TOO_LARGE: Failure = { code: 'result_too_large', message: 'the answer is larger than the limit' };
/** Refusals after which the upstream may have done the work. */
const MAYBE_DONE: ReadonlySet<string> = new Set(['upstream_failed', 'upstream_timeout']);
const BROKEN: Failure = {
  code: 'upstream_failed',
  message: 'the upstream broke off within its answer; it may have done the work',
};

/** A job that this process runs until the lease ends. */
export type DueJob = LeasedJob & { readonly lease: JobLease; readonly call: JobCall };

export interface RunJobDeps {
  readonly jobs: JobsClient;
  readonly media: PrivateStore & ByteReader;
  readonly relay: Relay;
  readonly clock: Clock;
  readonly log: Log;
  readonly tracing: Tracing;
  /** The limit on a request, and on an answer. */
  readonly bytesMax: number;
}

export interface RunOptions {
  /** Aborted when the lease is lost or the gateway stops. */
  readonly signal: AbortSignal;
  /** Aborted when no new call may begin. */
  readonly stopping: AbortSignal;
  /** The time for which answers are kept, in milliseconds. */
  readonly keepMs: number;
}

/** One run, with its span. */
interface Run extends RunOptions {
  readonly span: Span;
}

/** The outcome of one run. */
type Outcome =
  | { readonly kind: 'answered'; readonly answer: CollectedAnswer; readonly failure: Failure | undefined }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** Nothing was sent. */
  | { readonly kind: 'later'; readonly delayMs: number }
  /** The call was begun, and its outcome is unknown. */
  | { readonly kind: 'unknown' };

/** The intent could not be recorded, so nothing was sent. */
class NotStarted extends Error {
  override readonly name = 'NotStarted';
}

/** Makes the call of a leased job, as the request that made the job, and records its outcome. It does not reject. */
export function runJob(deps: RunJobDeps, job: DueJob, options: RunOptions): Promise<void> {
  const traced = deps.tracing.enter(job.trace || undefined);
  const attributes = { 'reelgate.task.id': job.lease.jobId, 'reelgate.endpoint': job.call.endpoint };
  const run = (): Promise<void> =>
    inSpan(traced, 'run job', { kind: 'consumer', attributes }, (span) =>
      runAndRecord(deps, job, { ...options, span }),
    );
  return inRequest(job.requestId, () => inTrace(traced.traceId, run));
}

async function runAndRecord(deps: RunJobDeps, job: DueJob, run: Run): Promise<void> {
  try {
    const outcome = await runStoredCall(deps, job, run);
    run.span.set({ 'reelgate.outcome': outcome.kind });
    await writeWithRetries(deps, run.signal, () => recordOutcome(deps, job, outcome, run));
  } catch (error) {
    run.span.fail('not_recorded');
    // the lease ends by itself; then the tasks service decides
    deps.log.error({ taskId: job.lease.jobId, err: error }, 'the outcome of a job was not recorded');
  }
}

async function runStoredCall(deps: RunJobDeps, job: DueJob, run: Run): Promise<Outcome> {
  const sink = collectingSink(deps.bytesMax);
  let isStarted = false;
  const recordStart = async (): Promise<void> => {
    if (run.stopping.aborted || run.signal.aborted) throw new NotStarted('stopping');
    await deps.jobs.markJobStarted({ lease: job.lease }, withDeadline(run)).catch((error: unknown) => {
      throw new NotStarted('the intent was not written', { cause: error });
    });
    isStarted = true;
  };
  try {
    const call = await loadCall(deps, job);
    if (call === undefined || job.overdue) return giveUp(deps, job, call === undefined ? LOST : EXPIRED);
    const hold = { callId: job.callId, lapsesAt: deps.clock.now() + HOLD_SLACK_MS, recordStart };
    const traced = { ...call, span: run.span };
    const { how } = await deps.relay.call(traced, sink, AbortSignal.any([run.signal, sink.overflow]), hold);
    return ENDED[how](sink);
  } catch (error) {
    return classifyRefusal(deps, job, error, isStarted);
  }
}

const ENDED: Readonly<Record<'whole' | 'broken' | 'gone', (sink: CollectingSink) => Outcome>> = {
  whole: (sink) => (sink.overflow.aborted ? { kind: 'failed', failure: TOO_LARGE } : toOutcome(sink.answer())),
  broken: () => ({ kind: 'failed', failure: BROKEN }),
  gone: (sink) => (sink.overflow.aborted ? { kind: 'failed', failure: TOO_LARGE } : { kind: 'unknown' }),
};

function toOutcome(answer: CollectedAnswer): Outcome {
  return { kind: 'answered', answer, failure: answer.status < SUCCESS_BELOW ? undefined : readFailure(answer) };
}

async function loadCall({ media, bytesMax }: RunJobDeps, job: DueJob): Promise<RelayCall | undefined> {
  const body = await readBytes(media, job.call.body, bytesMax);
  return body === undefined ? undefined : restoreCall(job, body);
}

/** Restores a stored call. It keeps the access rights that it was created with. */
function restoreCall(
  { call: { method, path, query, headers, model, label }, accountId, tokenId, visibleModels, requestId }: DueJob,
  body: Buffer,
): Promise<RelayCall> {
  const endpoint = relayEndpoints.find((one) => one.method === method && matchPath(one.path, path) !== undefined);
  if (endpoint === undefined)
    throw refuse('not_found', { message: 'the synchronous route of this call no longer exists' });
  return parseCall({
    endpoint,
    path,
    params: { model },
    search: query === '' ? '' : `?${query}`,
    headers: headers.flatMap(({ name, value }) => [name, value]),
    body,
    requestId,
    contentType: headers.find(({ name }) => name.toLowerCase() === 'content-type')?.value,
    label: label || undefined,
    principal: {
      accountId,
      tokenId,
      models: visibleModels,
      expiresAt: undefined,
      webhooks: 'none',
      tokenName: '',
      tokens: 'none',
    },
  });
}

/** Returns the outcome of a refusal. A job that can succeed later waits in the queue, with its hold. */
function classifyRefusal(deps: RunJobDeps, job: DueJob, error: unknown, isStarted: boolean): Outcome {
  if (error instanceof NotStarted) return { kind: 'later', delayMs: 0 };
  if (!(error instanceof Problem)) {
    deps.log.error({ taskId: job.lease.jobId, err: error }, 'a job failed');
    return isStarted ? { kind: 'unknown' } : { kind: 'later', delayMs: LATER.unknownMs };
  }
  if (canSucceedLater(error))
    return {
      kind: 'later',
      delayMs: Math.min(LATER.mostMs, Math.max(LATER.leastMs, error.retryAfterMs ?? LATER.unknownMs)),
    };
  // after the start the relay has settled it
  if (!isStarted) deps.relay.release(job.callId);
  return { kind: 'answered', ...toRefusalAnswer(error, { path: job.call.path, requestId: job.requestId }) };
}

function canSucceedLater(problem: Problem): boolean {
  return (
    problem.reason === 'rate_limit_exceeded' || (problem.kind === 'unavailable' && !MAYBE_DONE.has(problem.reason))
  );
}

/** Ends the job without a call, and releases its hold. */
function giveUp({ relay }: RunJobDeps, { callId }: DueJob, failure: Failure): Outcome {
  relay.release(callId);
  return { kind: 'failed', failure };
}

async function recordOutcome(
  { jobs, media }: RunJobDeps,
  { lease, accountId }: DueJob,
  outcome: Outcome,
  { keepMs, span }: Run,
): Promise<void> {
  const call = withDeadline({ span });
  switch (outcome.kind) {
    case 'answered': {
      const { answer, failure } = outcome;
      const written = {
        statusCode: answer.status,
        contentType: answer.contentType,
        encoding: await chooseEncoding(answer),
        size: BigInt(answer.body.length),
        body: await keepBytes(media, answer.body, { accountId, keepMs }),
      };
      await jobs.finishJob({ lease, answer: written, ...(failure === undefined ? {} : { failure }) }, call);
      return;
    }
    case 'failed':
      await jobs.finishJob({ lease, failure: outcome.failure }, call);
      return;
    case 'later':
      await jobs.returnJob({ lease, untouched: true, delayMs: BigInt(Math.round(outcome.delayMs)) }, call);
      return;
    case 'unknown':
      await jobs.returnJob({ lease }, call);
      return;
  }
}

/** Repeats a write for a limited time; a refusal is final. */
async function writeWithRetries(
  { clock, log }: RunJobDeps,
  signal: AbortSignal,
  write: () => Promise<void>,
): Promise<void> {
  const until = clock.now() + WRITE_FOR_MS;
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      const isFinal = error instanceof Problem && error.kind !== 'unavailable' && error.kind !== 'internal';
      if (isFinal || signal.aborted || clock.now() >= until) throw error;
      log.warn({ err: error }, 'the outcome of a job was not recorded; it is sent again');
      await clock.sleep(WRITE_PAUSE_MS, signal);
    }
  }
}
