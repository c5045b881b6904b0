import { Problem } from '@reelgate/platform/problem';
import { inSpan } from '@reelgate/platform/trace/in-span';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Attempt, Submission } from '../../channels/channel.ts';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { channelScope } from '../../domain/in-flight-scope.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { ResolvedOrder } from '../creates/resolve-order.ts';
import type { Deps } from '../deps.ts';
import { showTask } from '../show-task.ts';
import type { SourceMedia } from '../staging/stage-source.ts';
import { contentRejected, noChannel, orderRejected, throttleRefusal, unfit } from '../task-refusals.ts';
import { planAttempt } from './plan-attempt.ts';
import { recordOutcome } from './record-outcome.ts';
import { reportToCircuit, submitSafely } from './submit-safely.ts';

const THROTTLE_RETRY_MS = 2000;
const ATTEMPTS_MAX = 16;
const NOT_ADMITTED = 'not sent: the channel takes no submission now';

/** The staged media of an order, and those of its source if a channel needs them. */
export interface AllMedia {
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly source: SourceMedia | undefined;
}

/** The inputs of the attempts, and the span that the spans of the attempts belong to. */
export interface AttemptInputs {
  readonly resolved: ResolvedOrder;
  readonly staged: AllMedia;
  readonly span: Span;
}

/** The reason why a channel did not accept an order that another channel may accept. */
type SkipReason =
  { readonly why: 'fault' | 'unfit' | 'paused' } | { readonly why: 'limit'; readonly retryAfterMs: number };

const FULL: SkipReason = { why: 'limit', retryAfterMs: THROTTLE_RETRY_MS };

/** The outcome of an attempt, and the task that it leaves; undefined if another process has decided over the task. */
interface AttemptResult {
  readonly submission: Submission;
  readonly task: Task | undefined;
}

/**
 * Tries the channels in order until one accepts the order. Returns the task as it was then written. An answer that was
 * lost ends the attempts too: the task lives on with an unknown outcome. Throws if the order itself is refused, or if
 * no channel accepted it.
 */
export async function submitAttempts(deps: Deps, task: NewTask, inputs: AttemptInputs): Promise<Task | undefined> {
  try {
    return await tryInOrder(deps, task, inputs);
  } catch (error) {
    if (error instanceof Problem) deps.count.refused();
    throw error;
  }
}

async function tryInOrder(deps: Deps, task: NewTask, inputs: AttemptInputs): Promise<Task | undefined> {
  const skipped: SkipReason[] = [];
  let number = 0;
  for (const runtime of inputs.resolved.runtimes.slice(0, ATTEMPTS_MAX)) {
    const isStarted = number === 0 && task.attempt?.channel === runtime.channel.settings.id;
    const begun = await (isStarted ? admitStarted : beginAttempt)(deps, task, runtime, number + 1);
    if (isStarted || begun === 'begun') number += 1;
    if (begun !== 'begun') {
      skipped.push(begun);
      continue;
    }
    const { submission, task: updatedTask } = await tryChannel(deps, task, { ...inputs, runtime, number });
    if (submission.outcome !== 'refused') return updatedTask;
    skipped.push(toSkipReason(submission));
  }
  throw noneAccepted(skipped);
}

/** Returns the reason to skip a channel that refused the order. Throws if no other channel will accept it. */
function toSkipReason({ fault, retryAfterMs }: Extract<Submission, { outcome: 'refused' }>): SkipReason {
  if (fault === 'content') throw contentRejected();
  if (fault === 'order') throw orderRejected();
  if (fault === 'throttle') return { why: 'limit', retryAfterMs: retryAfterMs ?? THROTTLE_RETRY_MS };
  return { why: fault === 'unfit' ? 'unfit' : 'fault' };
}

/** Refuses, as the attempts would, an order for which no channel is open now. Takes none of the channels' limits. */
export async function assertOpenChannel(deps: Pick<Deps, 'store'>, runtimes: readonly ChannelRuntime[]): Promise<void> {
  const skipped: SkipReason[] = [];
  for (const runtime of runtimes.slice(0, ATTEMPTS_MAX)) {
    const obstacle = findObstacle(runtime) ?? ((await isFull(deps, runtime)) ? FULL : undefined);
    if (obstacle === undefined) return;
    skipped.push(obstacle);
  }
  throw noneAccepted(skipped);
}

/**
 * Returns the reason why a channel takes no submission now, as far as this process knows; undefined if it takes one.
 * A half-open circuit may let one through.
 */
export function findObstacle({ circuit, creates, isPaused }: ChannelRuntime): SkipReason | undefined {
  if (isPaused()) return { why: 'paused' };
  if (circuit.state() === 'open') return { why: 'fault' };
  const waitMs = creates.waitMs();
  return waitMs > 0 ? { why: 'limit', retryAfterMs: waitMs } : undefined;
}

async function isFull({ store }: Pick<Deps, 'store'>, { channel: { settings } }: ChannelRuntime): Promise<boolean> {
  return (await store.inFlight(channelScope(settings.id))) >= settings.inFlightMax;
}

/**
 * If a channel may accept the order later, a retry is worthwhile. The order is at fault only if no channel ever would.
 * A paused channel counts only if there is no other.
 */
function noneAccepted(skipped: readonly SkipReason[]): Problem {
  const waits = skipped.flatMap((one) => (one.why === 'limit' ? [one.retryAfterMs] : []));
  if (skipped.length === 0 || skipped.some(({ why }) => why === 'fault')) return noChannel();
  if (waits.length > 0) return throttleRefusal(Math.min(...waits));
  return skipped.some(({ why }) => why === 'paused') ? noChannel() : unfit();
}

/** Takes the limits of the channel and writes the attempt as `started`. Nothing has been sent yet. */
async function beginAttempt(
  deps: Deps,
  task: NewTask,
  runtime: ChannelRuntime,
  number: number,
): Promise<'begun' | SkipReason> {
  const { settings } = runtime.channel;
  const refused = await admit(runtime);
  if (refused !== undefined) return refused;
  const started = await deps.store.startAttempt(task.id, {
    number,
    owner: task.owner,
    channel: settings.id,
    inFlightMax: settings.inFlightMax,
    at: deps.clock.now(),
  });
  if (started) {
    deps.log.info({ taskId: task.id, channel: settings.id, number }, 'an attempt was started');
    return 'begun';
  }
  runtime.circuit.undecided();
  return FULL;
}

/**
 * Takes the limits of the channel for the attempt that was started with its task. The hold comes before them, so that
 * an order that no balance covers takes no submission of the channel.
 */
async function admitStarted(
  deps: Deps,
  task: NewTask,
  runtime: ChannelRuntime,
  number: number,
): Promise<'begun' | SkipReason> {
  const { id: channel } = runtime.channel.settings;
  const refused = await admit(runtime);
  if (refused === undefined) {
    deps.log.info({ taskId: task.id, channel, number }, 'an attempt was started');
    return 'begun';
  }
  await deps.store.refuseAttempt(task.id, { number, channel, error: NOT_ADMITTED, at: deps.clock.now() });
  return refused;
}

/** Takes one submission of the channel, or says why there is none. */
async function admit({ creates, isPaused }: ChannelRuntime): Promise<SkipReason | undefined> {
  if (isPaused()) return { why: 'paused' };
  const waitMs = await creates.admit();
  if (waitMs === Infinity) return { why: 'fault' };
  return waitMs > 0 ? { why: 'limit', retryAfterMs: waitMs } : undefined;
}

interface AttemptContext extends AttemptInputs {
  readonly runtime: ChannelRuntime;
  readonly number: number;
}

async function tryChannel(deps: Deps, task: NewTask, inputs: AttemptContext): Promise<AttemptResult> {
  const { settings } = inputs.runtime.channel;
  const attributes = { 'reelgate.task.channel': settings.id, 'reelgate.task.attempt': inputs.number };
  return inSpan(inputs.span, `submit ${settings.id}`, { kind: 'client', attributes }, async (span) => {
    const tried = await submitAndRecord(deps, task, { ...inputs, span });
    describe(span, tried.submission);
    return tried;
  });
}

/** Says how an attempt ended: nothing that the upstream said, because that can name hosts and ids. */
function describe(span: Span, submission: Submission): void {
  span.set({ 'reelgate.task.outcome': submission.outcome, 'http.response.status_code': submission.status });
  if (submission.outcome === 'refused') span.fail(`refused_${submission.fault}`);
  if (submission.outcome === 'unknown') span.fail('outcome_unknown');
}

async function submitAndRecord(deps: Deps, task: NewTask, inputs: AttemptContext): Promise<AttemptResult> {
  const { runtime, number } = inputs;
  const { channel, circuit } = runtime;
  const { settings } = channel;
  // A submission that has begun is finished even if the client leaves. The deadline of the channel bounds the call.
  const { signal } = new AbortController();
  const attempt = await plan(deps, task, inputs, signal);
  const begunAt = deps.clock.now();
  const submission = await submitSafely(channel, attempt, signal);
  const ms = deps.clock.now() - begunAt;
  const error = submission.outcome === 'accepted' ? undefined : submission.error;
  deps.count.attempt(settings.id, submission.outcome, { ms, error });
  reportToCircuit(circuit, submission);
  logOutcome(deps, { taskId: task.id, channel: settings.id, number, ms }, submission);
  const writtenTask = await recordOutcome(deps, task, { settings, number }, submission);
  if (writtenTask !== undefined) showTask(deps, writtenTask);
  return { submission, task: writtenTask };
}

/** The words of the upstream may quote the order, so they stand in the record of the attempt and in no line. */
function logOutcome({ log }: Pick<Deps, 'log'>, fields: object, submission: Submission): void {
  if (submission.outcome === 'accepted') log.info(fields, 'an attempt was accepted');
  else
    log.warn(
      { ...fields, outcome: submission.outcome, ...('fault' in submission ? { fault: submission.fault } : {}) },
      'an attempt was not accepted',
    );
}

/** If the attempt cannot be planned, nothing was sent: it is written as refused. */
async function plan(
  deps: Deps,
  task: NewTask,
  { runtime: { channel, circuit }, resolved, staged, number }: AttemptContext,
  signal: AbortSignal,
): Promise<Attempt> {
  const { settings } = channel;
  try {
    return await planAttempt(
      deps,
      {
        taskId: task.id,
        number,
        order: task.order,
        settings,
        source: resolved.source,
        staged: staged.byIndex,
        sourceMedia: staged.source,
      },
      signal,
    );
  } catch (error) {
    circuit.undecided();
    await deps.store.refuseAttempt(task.id, {
      number,
      channel: settings.id,
      error: String(error),
      at: deps.clock.now(),
    });
    throw error;
  }
}
