import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import { Problem, isProblem } from '@reelgate/platform/problem';
import type { BatchCall } from '@reelgate/proto/tasks/v1/batch';
import { completeAnnotations, toWireAnnotations } from '../../domain/annotations.ts';
import { LINE_KEY_MS, nameLineKey } from '../../domain/batch.ts';
import type { Batch, BatchFault } from '../../domain/batch.ts';
import type { Order } from '../../domain/order.ts';
import type { TokenRights } from '../../clients/tokens.ts';
import type { BatchLease, BatchStop, LineWork, OpenLine, OrderWork, StartedLine } from '../../store/batch-store.ts';
import type { TokenReader } from '../cached-tokens.ts';
import { estimateOrder } from '../creates/check-create.ts';
import type { EveryMember } from '../../domain/every-member.ts';
import type { BesideOrder } from '../../domain/task.ts';
import type { CreateRequest } from '../create-context.ts';
import { createTask } from '../creates/create-task.ts';
import { digestCall, digestOrder } from '../creates/idempotency.ts';
import type { Deps } from '../deps.ts';
import { cancelTask } from '../ends/cancel-task.ts';
import { createJob } from '../jobs/create-job.ts';
import type { JobRequest } from '../jobs/create-job.ts';
import type { JobDeps } from '../jobs/job-deps.ts';
import type { BatchDeps } from './batch-deps.ts';
import { invalidMetadata } from './create-batch.ts';
import { countCharges } from './work-batches.ts';

/** The batches that a process works on at once. */
const BATCHES_MAX = 16;
/** The lines of one step: their intents share a transaction, and so do their outcomes. */
const STEP_LINES = 16;
/** The steps of all batches of a pass, at least one for each, before the accounts take turns again. */
const STEPS_MAX = 16;
/** The most lines that end in one transaction. */
const ENDS_MAX = 200;
/** The lines that are closed in a transaction. */
const CLOSES_MAX = 500;
/** The tasks of a cancelled batch that are cancelled in a pass. */
const CANCELS_MAX = 200;
/** The time between two looks at tasks that run. */
const LOOK_MS = 1000;
/** The time between two tries to cancel tasks. */
const CANCEL_MS = 5000;
const RETRY_MS_MIN = 1000;
const RETRY_MS_MAX = 30_000;
const FAULT_MS = 5000;
const CREATES_DEADLINE_MS = 300_000;

const CANCELLED: BatchFault = { code: 'batch_cancelled', message: 'the batch was cancelled before this line began' };
const UNKNOWN: BatchFault = {
  code: 'outcome_unknown',
  message: 'it is not known whether the generator accepted this line; an operator decides over its money',
};
const EXPIRED: BatchFault = { code: 'batch_expired', message: 'this line did not begin within the completion window' };

/** The dependencies of the passes that create tasks from lines. */
export interface RunBatchDeps extends BatchDeps {
  readonly tasks: Deps;
  readonly jobs: JobDeps;
  readonly tokens: TokenReader;
}

/** One pass over batches that are due. */
export async function runBatches(deps: RunBatchDeps): Promise<PassResult> {
  const { batches, clock, newId, limits } = deps;
  const now = clock.now();
  const late = await batches.endLateReads(now);
  const lease = newId('lease');
  const until = now + limits.leaseMs;
  const taken = await batches.leaseBatches({ phase: 'running', lease, now, until, limit: BATCHES_MAX });
  const steps = Math.max(1, Math.floor(STEPS_MAX / taken.length));
  await Promise.all(taken.map((batch) => runLeased({ ...deps, steps }, batch, { batchId: batch.id, lease })));
  if (taken.length + late > 0) return taken.length + late;
  const dueAt = await batches.findNextDue('running');
  return dueAt === undefined ? NOTHING_DUE : { dueAt };
}

/** A pass, with the steps that it leaves to each batch. */
interface BatchPass extends RunBatchDeps {
  readonly steps: number;
}

async function runLeased(deps: BatchPass, batch: Batch, lease: BatchLease): Promise<void> {
  const { batches, clock, log } = deps;
  let pauseMs = FAULT_MS;
  try {
    pauseMs = await runBatch(deps, batch, lease);
  } catch (error) {
    log.warn({ batchId: batch.id, err: error }, 'a pass over a batch failed; it is tried again');
  }
  await batches
    .returnBatch(lease, clock.now() + pauseMs)
    .catch((error: unknown) => log.warn({ batchId: batch.id, err: error }, 'a batch waits for its lease to end'));
}

/** Returns the milliseconds until the next pass over the batch. */
async function runBatch(deps: BatchPass, batch: Batch, lease: BatchLease): Promise<number> {
  const { batches, clock, log } = deps;
  const ended = await batches.endLines(lease, ENDS_MAX, extend(deps));
  await countCharges(deps, lease, 'running');
  const rights = await readRights(deps, batch);
  const stop = findStop(batch, rights, clock.now());
  let pauseMs: number;
  if (stop !== undefined) {
    await closeLines(deps, lease, stop);
    if (batch.expiresAt <= clock.now()) await batches.endUnknown(lease, UNKNOWN, ENDS_MAX, extend(deps));
    pauseMs = batch.cancellingAt === undefined ? LOOK_MS : await cancelTasks(deps, batch);
  } else if (rights instanceof Problem) throw rights;
  else pauseMs = await startLines(deps, { batch, lease, rights });
  if (await batches.finishRun(lease, clock.now())) {
    log.info({ batchId: batch.id }, 'the lines of a batch have ended');
    return 0;
  }
  return ended === ENDS_MAX ? 0 : pauseMs;
}

function extend({ clock, limits }: RunBatchDeps): number {
  return clock.now() + limits.leaseMs;
}

/** Returns a refusal rather than throwing it: a revoked token stops its batch. */
async function readRights({ tokens }: RunBatchDeps, { tokenId, accountId }: Batch): Promise<TokenRights | Problem> {
  try {
    return await tokens.findRights(tokenId, accountId);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

const STOPPING_KINDS: ReadonlySet<string> = new Set(['not_found', 'forbidden', 'unauthenticated']);

function findStop(batch: Batch, rights: TokenRights | Problem, now: number): BatchStop | undefined {
  if (batch.cancellingAt !== undefined) return { outcome: 'cancelled', fault: CANCELLED };
  if (batch.expiresAt <= now) return { outcome: 'expired', fault: EXPIRED };
  if (!isProblem(rights) || !STOPPING_KINDS.has(rights.kind)) return undefined;
  return {
    outcome: 'cancelled',
    fault: { code: 'token_disabled', message: 'the API key of this batch was revoked or has expired' },
  };
}

async function closeLines(deps: RunBatchDeps, lease: BatchLease, stop: BatchStop): Promise<void> {
  const { batches, clock } = deps;
  await batches.closeStarting(lease, stop, { now: clock.now(), until: extend(deps) });
  while ((await batches.closePending(lease, stop, CLOSES_MAX, extend(deps))) === CLOSES_MAX);
}

/** Cancels the tasks of a cancelled batch that have not begun. One that cannot be cancelled ends by itself. */
async function cancelTasks({ batches, tasks, log }: RunBatchDeps, batch: Batch): Promise<number> {
  const taskIds = await batches.listQueuedTasks(batch.id, CANCELS_MAX);
  for (const taskId of taskIds)
    await cancelTask(tasks, batch.accountId, taskId, AbortSignal.timeout(CREATES_DEADLINE_MS)).catch((error: unknown) =>
      log.debug({ batchId: batch.id, taskId, err: error }, 'a task of a cancelled batch goes on'),
    );
  return taskIds.length === 0 ? LOOK_MS : CANCEL_MS;
}

interface BatchRun {
  readonly batch: Batch;
  readonly lease: BatchLease;
  readonly rights: TokenRights;
}

/** Creates the tasks of lines while the batch has room, up to a refusal that will pass. */
async function startLines(deps: BatchPass, run: BatchRun): Promise<number> {
  const { batches, limits, steps } = deps;
  for (let step = 0; step < steps; step += 1) {
    const open = await batches.listOpenLines(run.batch.id, limits.inFlight, STEP_LINES);
    if (open.length === 0) return LOOK_MS;
    const lines = await beginLines(deps, run, open);
    const outcomes = await Promise.all(lines.map((line) => createLine(deps, run, line)));
    const started = outcomes.filter((outcome) => 'end' in outcome);
    if (started.length > 0 && !(await batches.recordStarts(run.lease, started, extend(deps)))) return 0;
    const pauses = outcomes.flatMap((outcome) => ('pauseMs' in outcome ? [outcome.pauseMs] : []));
    if (pauses.length > 0) return Math.min(...pauses);
  }
  return 0;
}

/** Records which of the pending lines may begin. Returns them and those that began before, with their prices. */
async function beginLines(deps: RunBatchDeps, run: BatchRun, open: readonly OpenLine[]): Promise<readonly OpenLine[]> {
  const starting = open.filter(({ state }) => state === 'starting');
  const pending = open.filter(({ state }) => state === 'pending');
  if (pending.length === 0) return starting;
  const priced = await Promise.all(
    pending.map(async (line) => ({ ...line, nanos: await estimateNanos(deps, run, line.work) })),
  );
  const begun = new Set(await deps.batches.startLines(run.lease, priced, extend(deps)));
  return [...starting, ...priced.filter(({ number }) => begun.has(number))];
}

/**
 * The least bound that an order is accepted with, for a batch with a bound. An order that has no price is refused by its
 * create.
 */
async function estimateNanos(
  { tasks, clock }: RunBatchDeps,
  { batch, rights }: BatchRun,
  work: LineWork,
): Promise<bigint> {
  if (batch.maxNanos === undefined || !('order' in work)) return 0n;
  try {
    const { quote } = await estimateOrder(tasks, {
      accountId: batch.accountId,
      visibleModels: rights.models,
      order: work.order,
      wait: readWait(batch, clock.now()),
      tokenWait: rights.wait,
    });
    return quote.maxAmountNanos;
  } catch (error) {
    if (error instanceof Problem && isFinal(error)) return 0n;
    throw error;
  }
}

/** The task of a line waits for its turn behind others, and not longer than its batch. */
function readWait({ expiresAt }: Batch, now: number): CreateRequest['wait'] {
  return { mode: 'wait', class: 'batch', startWithinMs: Math.max(expiresAt - now, RETRY_MS_MIN) };
}

type LineOutcome = StartedLine | { readonly pauseMs: number };

/** Creates the task or the job of a line under the key of the line, so that a repeat finds the same one. */
async function createLine(deps: RunBatchDeps, run: BatchRun, line: OpenLine): Promise<LineOutcome> {
  const { number, work } = line;
  try {
    const { id } =
      'order' in work
        ? (await createTask(deps.tasks, toCreateRequest(deps, run, { ...line, order: work.order }))).task
        : (await createJob(deps.jobs, toJobRequest(run, number, work))).job;
    return { number, end: { taskId: id } };
  } catch (error) {
    if (error instanceof Problem && isFinal(error)) return { number, end: { fault: toFault(error, work) } };
    const isRefusal = error instanceof Problem && error.kind !== 'internal';
    deps.log[isRefusal ? 'debug' : 'warn'](
      { batchId: run.batch.id, line: number, err: error },
      'a line is tried again',
    );
    const retryAfterMs = error instanceof Problem ? (error.retryAfterMs ?? RETRY_MS_MIN) : FAULT_MS;
    return { pauseMs: Math.min(Math.max(retryAfterMs, RETRY_MS_MIN), RETRY_MS_MAX) };
  }
}

function toCreateRequest(
  { clock }: RunBatchDeps,
  { batch, rights }: BatchRun,
  { number, order, nanos }: Pick<OpenLine, 'number' | 'nanos'> & { readonly order: Order },
): CreateRequest {
  return {
    accountId: batch.accountId,
    tokenId: batch.tokenId,
    visibleModels: rights.models,
    order,
    beside: {
      ...completeAnnotations(batch, rights),
      maxAmountNanos: batch.maxNanos === undefined ? undefined : nanos,
      currency: undefined,
      webhookUrl: undefined,
    } satisfies EveryMember<BesideOrder>,
    requestId: batch.requestId,
    idempotency: {
      key: nameLineKey(batch.id, number),
      fingerprint: digestOrder(order),
      lifetimeMs: LINE_KEY_MS,
    },
    wait: readWait(batch, clock.now()),
    tokenWait: rights.wait,
    inFlightLimit: rights.inFlight,
    makers: rights.makers,
  };
}

/** The worker that sends the call has it paid for first, so that a waiting call holds no money. */
function toJobRequest({ batch, rights }: BatchRun, number: number, { call, repeatable }: BatchCall): JobRequest {
  if (call === undefined) throw new Error(`line ${number} of ${batch.id} has lost its call`);
  if (batch.maxNanos !== undefined) throw invalidMetadata('metadata.max_amount', 'is possible for /v1/videos alone');
  return {
    accountId: batch.accountId,
    tokenId: batch.tokenId,
    makerIds: rights.makers.map(({ tokenId }) => tokenId),
    visibleModels: rights.models,
    requestId: batch.requestId ?? '',
    call: { ...call, ...toWireAnnotations(completeAnnotations(batch, rights)) },
    repeatable,
    leavesRoom: true,
    idempotency: {
      key: nameLineKey(batch.id, number),
      fingerprint: digestCall(call, repeatable),
      lifetimeMs: LINE_KEY_MS,
    },
  };
}

const PASSING_KINDS: ReadonlySet<string> = new Set(['exhausted', 'unavailable', 'internal']);

/**
 * Reports whether a repeat of a create would be refused again. A balance that does not cover a line ends the line: it
 * is free, its client finds it in the error file, and no batch waits for money that may never come.
 */
function isFinal({ kind, reason }: Problem): boolean {
  if (reason === 'insufficient_quota') return true;
  return !PASSING_KINDS.has(kind) && reason !== 'idempotency_key_in_use';
}

function toFault({ reason, field: path, message }: Problem, work: LineWork): BatchFault {
  // a line has its extra fields next to the others
  const name = path?.replace(/^extra_json\./, '');
  const field = name === undefined || !('order' in work) ? name : toClientName(name, work.names);
  return { code: reason, message: field === undefined ? message : `${field} ${message}`, param: field };
}

/** The client's name for a field of its order. That for a part of an item of the content can be the item's. */
function toClientName(field: string, names: OrderWork['names'] = {}): string {
  const [item = field] = /^content\[\d+\]/.exec(field) ?? [];
  const known = [field, item].find((name) => Object.hasOwn(names, name));
  return (known && names[known]) ?? field;
}
