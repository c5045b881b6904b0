import type { Problem } from '@reelgate/platform/problem';
import type { Span } from '@reelgate/platform/trace/trace';
import { inSpan } from '@reelgate/platform/trace/trace';
import type { Circuit } from '@reelgate/platform/limits/circuit-breaker';
import type { Channel, PlannedAttempt, Submission } from '../../channels/channel.ts';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { channelScope } from '../../domain/in-flight-scope.ts';
import type { Task, TaskOrigin } from '../../domain/task.ts';
import type { AttemptFault } from '../../store/queue-store.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { CreateContext } from '../create-context.ts';
import type { Deps } from '../deps.ts';
import { contentRejected, noChannel, orderRejected, throttleRefusal, unfit } from '../task-refusals.ts';
import { planAttempt } from './plan-attempt.ts';
import { recordOutcome, showTask } from './record-outcome.ts';

const THROTTLE_RETRY_MS = 2000;
const ATTEMPTS_MAX = 16;
const MINUTE_MS = 60_000;
/** The longest pauses of the rest of a minute, as a multiple of even ones: three quarters of the minute are left then. */
const PACE_MAX = 4 / 3;
/** All tasks that wait share the minute of a channel with the creates that do not, as one account. */
export const WAITING_TASKS = '';
const NOT_ADMITTED = 'not sent: the channel takes no submission now';

export type Refusal = Extract<Submission, { outcome: 'refused' }>;

/** The effect of a refusal on the circuit. A refusal of the order or at a limit shows that the upstream answers. */
const CIRCUIT_AFTER: Readonly<Record<Refusal['fault'], 'failed' | 'refused' | 'undecided'>> = {
  channel: 'failed',
  credential: 'failed',
  throttle: 'refused',
  content: 'refused',
  order: 'refused',
  unfit: 'undecided',
};

/**
 * The reason why a channel did not accept an order that another channel may accept. `open`: its circuit is open, and
 * closes again by itself.
 */
type SkipReason =
  { readonly why: 'fault' | 'open' | 'unfit' | 'paused' } | { readonly why: 'limit'; readonly retryAfterMs: number };

const FULL: SkipReason = { why: 'limit', retryAfterMs: THROTTLE_RETRY_MS };

/**
 * Tries the channels in order until one accepts the order. Returns the task as it was then written; undefined if
 * another process has decided over it. An answer that was lost ends the attempts too: the task lives on with an unknown
 * outcome. Throws if the order itself is refused, or if no channel accepted it. `wait` is called instead if a channel
 * may accept it later.
 */
export async function submitAttempts(
  deps: Deps,
  create: CreateContext,
  wait?: () => Promise<Task | undefined>,
): Promise<Task | undefined> {
  const { task, runtimes } = create;
  const skipped: SkipReason[] = [];
  let number = 0;
  for (const runtime of runtimes.slice(0, ATTEMPTS_MAX)) {
    const isStarted = number === 0 && task.attempt?.channel === runtime.channel.settings.id;
    const attempt = { runtime, number: number + 1, mayWait: wait !== undefined };
    const obstacle = await (isStarted ? admitStarted : beginAttempt)(deps, task, attempt);
    if (isStarted || obstacle === undefined) number += 1;
    if (obstacle !== undefined) {
      skipped.push(obstacle);
      continue;
    }
    const { submission, updatedTask } = await submitAndRecord(deps, create, attempt, (error, refusal) =>
      refuseAttempt(deps, task, attempt, { error, fault: refusal?.fault }),
    );
    if (updatedTask !== undefined) showTask(deps, updatedTask);
    if (submission.outcome !== 'refused') return updatedTask;
    skipped.push(toSkipReason(submission));
  }
  if (wait !== undefined && mayBeTakenLater(skipped)) return wait();
  throw noneAccepted(skipped);
}

export interface NumberedAttempt {
  readonly runtime: ChannelRuntime;
  /** Counts the attempts of the task from 1. */
  readonly number: number;
}

/** An attempt of a create, which waits for its turn instead if it may and the channel has no room. */
interface CreateAttempt extends NumberedAttempt {
  readonly mayWait: boolean;
}

/** Takes the limits of the channel and writes the attempt as `started`. Nothing has been sent yet. */
async function beginAttempt(
  deps: Deps,
  task: NewTask,
  { runtime, number, mayWait }: CreateAttempt,
): Promise<SkipReason | undefined> {
  const { id: channel, inFlightMax } = runtime.channel.settings;
  const { id: taskId, owner, accountId } = task;
  const obstacle = await takeSubmission(runtime, accountId, mayWait);
  if (obstacle !== undefined) return obstacle;
  const ofAccount = { accountId, inFlightMax: runtime.places.shareOf(accountId) };
  const started = { number, owner, channel, inFlightMax, ofAccount, at: deps.clock.now() };
  if (!(await deps.store.startAttempt(taskId, started))) {
    runtime.places.refused(accountId);
    runtime.circuit.undecided(accountId);
    return FULL;
  }
  deps.log.info({ taskId, channel, number }, 'an attempt was started');
  return undefined;
}

/**
 * Takes the limits of the channel for the attempt that was started with its task. The hold comes before them, so that
 * an order that no balance covers takes no submission of the channel.
 */
async function admitStarted(
  deps: Deps,
  task: NewTask,
  { runtime, number, mayWait }: CreateAttempt,
): Promise<SkipReason | undefined> {
  const { id: taskId, accountId } = task;
  const { id: channel } = runtime.channel.settings;
  const obstacle = await takeSubmission(runtime, accountId, mayWait);
  if (obstacle === undefined) deps.log.info({ taskId, channel, number }, 'an attempt was started');
  else await refuseAttempt(deps, task, { runtime, number }, { error: NOT_ADMITTED });
  return obstacle;
}

async function refuseAttempt(
  { store, clock }: Deps,
  { id: taskId }: NewTask,
  { runtime, number }: NumberedAttempt,
  refused: AttemptFault,
): Promise<void> {
  const { id: channel } = runtime.channel.settings;
  await store.refuseAttempt(taskId, { ...refused, number, channel, at: clock.now() });
}

/** Takes one submission of the channel for an account, or returns the reason why it cannot. */
async function takeSubmission(
  runtime: ChannelRuntime,
  accountId: string,
  mayWait: boolean,
): Promise<SkipReason | undefined> {
  const { creates, isPaused } = runtime;
  if (isPaused()) return { why: 'paused' };
  const spent = mayWait ? findSpentPace(runtime) : undefined;
  if (spent !== undefined) {
    creates.refused(WAITING_TASKS);
    return spent;
  }
  const waitMs = await creates.admit({ caller: accountId });
  if (waitMs === Infinity) return { why: 'open' };
  return waitMs > 0 ? { why: 'limit', retryAfterMs: waitMs } : undefined;
}

/** The part of a create that its attempts need. */
export type SubmittedWork = Pick<CreateContext, 'source' | 'media' | 'span'> & { readonly task: TaskOrigin };

/** Writes that no upstream has the work of an attempt. `refusal` is the answer of the upstream, if it was asked. */
export type RefuseAttempt = (error: string, refusal?: Refusal) => Promise<void>;

/**
 * Submits the order on one channel and writes the outcome. Returns the task after the outcome. Throws if the attempt
 * cannot be planned; then it was not sent.
 */
export async function submitAndRecord(
  deps: Deps,
  create: SubmittedWork,
  attempt: NumberedAttempt,
  refuse: RefuseAttempt,
): Promise<{ readonly submission: Submission; readonly updatedTask: Task | undefined }> {
  const { task } = create;
  const { number } = attempt;
  const { channel, circuit } = attempt.runtime;
  const { settings } = channel;
  const attributes = { 'reelgate.task.channel': settings.id, 'reelgate.task.attempt': number };
  return inSpan(create.span, `submit ${settings.id}`, { kind: 'client', attributes }, async (span) => {
    // A submission that has begun is finished even if the client leaves. The deadline of the channel bounds the call.
    const { signal } = new AbortController();
    const planned = await planOrRefuse(deps, create, attempt, { signal, refuse });
    const begunAt = deps.clock.now();
    const submission = await submitSafely(channel, planned, signal);
    obeyRefusal(attempt.runtime, submission, task.accountId);
    const ms = deps.clock.now() - begunAt;
    const error = submission.outcome === 'accepted' ? undefined : submission.error;
    deps.count.attempt(settings.id, toCountedOutcome(attempt.runtime, submission, task.accountId), {
      ms,
      error,
      taskId: task.id,
    });
    reportToCircuit(circuit, submission, task.accountId);
    logOutcome(deps, { taskId: task.id, channel: settings.id, number, ms }, submission);
    const updatedTask = await recordOutcome(deps, task, { settings, number, refuse }, submission);
    describeOutcome(span, submission);
    return { submission, updatedTask };
  });
}

/** Plans an attempt. If that fails, it was not sent, and the attempt is written as refused. */
async function planOrRefuse(
  deps: Deps,
  { task, source, media }: SubmittedWork,
  { runtime, number }: NumberedAttempt,
  { signal, refuse }: { readonly signal: AbortSignal; readonly refuse: RefuseAttempt },
): Promise<PlannedAttempt> {
  const { settings } = runtime.channel;
  const { id: taskId, accountId, order } = task;
  try {
    return await planAttempt(deps, { taskId, number, order, settings, source, media }, signal);
  } catch (error) {
    runtime.circuit.undecided(accountId);
    await refuse(String(error));
    throw error;
  }
}

/** A channel should not throw. If it does, it is unknown whether its upstream has accepted the order. */
async function submitSafely(channel: Channel, attempt: PlannedAttempt, signal: AbortSignal): Promise<Submission> {
  try {
    return await channel.submit(attempt, signal);
  } catch (error) {
    return { outcome: 'unknown', error: String(error) };
  }
}

/**
 * Reports each submission once, even if its outcome cannot be written. A lost answer counts as a failure: a channel
 * that hangs must be left alone, because a person may have to search for each order that it was given. The order may
 * have caused any failure but one: that no connection could be opened. A redirect is no failure.
 */
function reportToCircuit(circuit: Circuit, submission: Submission, accountId: string): void {
  const { outcome, status = 0 } = submission;
  if (outcome === 'accepted') {
    circuit.worked();
    return;
  }
  const lost = isRedirect(status) ? 'undecided' : 'failed';
  const after = outcome === 'refused' ? CIRCUIT_AFTER[submission.fault] : lost;
  if (after === 'failed') circuit.failed(submission.isUnreachable === true ? undefined : accountId);
  else circuit[after](accountId);
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

/**
 * A refusal of the order or its content is counted apart, because it does not speak against the channel. So is an order
 * that the channel cannot express, which was not sent, and a refusal that this account alone meets while the channel
 * accepts the orders of others.
 */
function toCountedOutcome(
  { witnesses }: ChannelRuntime,
  submission: Submission,
  accountId: string,
): Submission['outcome'] | 'rejected' | 'unfit' | 'unconfirmed' {
  const { outcome } = submission;
  if (outcome === 'accepted') witnesses.accepted(accountId);
  if (outcome !== 'refused') return outcome;
  if (submission.fault === 'order' || submission.fault === 'content') return 'rejected';
  if (submission.fault === 'unfit') return 'unfit';
  return submission.isUnreachable !== true && witnesses.isAloneWithFault(accountId) ? 'unconfirmed' : 'refused';
}

/** The words of the upstream may quote the order, so they stand in the record of the attempt and in no line. */
function logOutcome({ log }: Deps, fields: object, submission: Submission): void {
  if (submission.outcome === 'accepted') log.info(fields, 'an attempt was accepted');
  else
    log.warn(
      { ...fields, outcome: submission.outcome, ...('fault' in submission ? { fault: submission.fault } : {}) },
      'an attempt was not accepted',
    );
}

/**
 * Lets the channel wait as long as its upstream asks, before the task can have its next turn. An upstream that limits its
 * callers and does not say for how long has a pause too, a long one only if it limits several accounts.
 */
function obeyRefusal({ askToWait, throttles }: ChannelRuntime, submission: Submission, accountId: string): void {
  if (submission.outcome === 'accepted') throttles.clear();
  if (submission.outcome !== 'refused') return;
  const { fault, retryAfterMs } = submission;
  if (fault === 'throttle') askToWait(['work'], retryAfterMs ?? throttles.add(accountId));
  else if (fault === 'channel' && retryAfterMs !== undefined) askToWait(['work'], retryAfterMs);
}

/** Describes how an attempt ended, without the words of the upstream, because they can name hosts and ids. */
function describeOutcome(span: Span, submission: Submission): void {
  span.set({ 'reelgate.task.outcome': submission.outcome, 'http.response.status_code': submission.status });
  if (submission.outcome === 'refused') span.fail(`refused_${submission.fault}`);
  if (submission.outcome === 'unknown') span.fail('outcome_unknown');
}

/** Returns the reason to skip a channel that refused the order. Throws if no other channel will accept it. */
function toSkipReason({ fault, retryAfterMs }: Refusal): SkipReason {
  if (fault === 'content') throw contentRejected();
  if (fault === 'order') throw orderRejected();
  if (fault === 'throttle') return { why: 'limit', retryAfterMs: retryAfterMs ?? THROTTLE_RETRY_MS };
  return { why: fault === 'unfit' ? 'unfit' : 'fault' };
}

/**
 * Refuses, as the attempts would, an order for which no channel is open now, unless it would wait for a channel. Does
 * not take any of the channels' limits.
 */
export async function assertOpenChannel(
  deps: Deps,
  runtimes: readonly ChannelRuntime[],
  { accountId, waits }: { readonly accountId: string; readonly waits: boolean },
): Promise<void> {
  const skipped: SkipReason[] = [];
  for (const runtime of runtimes.slice(0, ATTEMPTS_MAX)) {
    const obstacle = findObstacle(runtime, accountId) ?? ((await isFull(deps, runtime)) ? FULL : undefined);
    if (obstacle === undefined) return;
    skipped.push(obstacle);
  }
  if (waits && mayBeTakenLater(skipped)) return;
  throw noneAccepted(skipped);
}

/**
 * Returns the reason why a channel takes no submission of an account now, as far as this process knows; undefined if it takes one.
 * A half-open circuit may let one through.
 */
export function findObstacle(
  { circuit, creates, isPaused }: ChannelRuntime,
  accountId?: string,
): SkipReason | undefined {
  if (isPaused()) return { why: 'paused' };
  if (circuit.isOpenFor(accountId)) return { why: 'open' };
  const waitMs = creates.waitMs();
  return waitMs > 0 ? { why: 'limit', retryAfterMs: waitMs } : undefined;
}

/**
 * Returns the reason why a create that may wait does so although the channel would take it; undefined if it does not. So
 * many came at once that the rest of the minute is left to the turns of all accounts. Otherwise the first account to
 * come would take the whole minute, and the others would wait until it is over.
 */
export function findSpentPace(runtime: ChannelRuntime): SkipReason | undefined {
  const paceMs = runtime.creates.paceMs();
  return paceMs > computeLongestPace(runtime) ? { why: 'limit', retryAfterMs: paceMs } : undefined;
}

/**
 * Returns the longest time in milliseconds between two turns of a channel, for all replicas together. A replica that has
 * just started takes the whole minute for used at once.
 */
export function computeLongestPace({ channel: { settings } }: ChannelRuntime): number {
  return PACE_MAX * (MINUTE_MS / settings.requestsPerMinute);
}

async function isFull({ store }: Deps, { channel: { settings } }: ChannelRuntime): Promise<boolean> {
  return (await store.inFlight(channelScope(settings.id))) >= settings.inFlightMax;
}

/** Reports whether a channel that is at a limit or has an open circuit may accept the order later. */
function mayBeTakenLater(skipped: readonly SkipReason[]): boolean {
  return skipped.some(({ why }) => why === 'limit' || why === 'open');
}

/**
 * If a channel may accept the order later, a retry is worthwhile. The order is at fault only if no channel ever would.
 * A paused channel counts only if there is no other.
 */
function noneAccepted(skipped: readonly SkipReason[]): Problem {
  const waits = skipped.flatMap((one) => (one.why === 'limit' ? [one.retryAfterMs] : []));
  if (skipped.length === 0 || skipped.some(({ why }) => why === 'fault' || why === 'open')) return noChannel();
  if (waits.length > 0) return throttleRefusal(Math.min(...waits));
  return skipped.some(({ why }) => why === 'paused') ? noChannel() : unfit();
}
