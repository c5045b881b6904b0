import type { Problem } from '@reelgate/platform/problem';
import type { Attempt, Submission } from '../../channels/channel.ts';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { channelScope } from '../../domain/in-flight-scope.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { ResolvedOrder } from '../creates/resolve-order.ts';
import type { Deps } from '../deps.ts';
import type { SourceMedia } from '../staging/stage-source.ts';
import { contentRejected, noChannel, orderRejected, throttled, unfit } from '../task-refusals.ts';
import { planAttempt } from './plan-attempt.ts';
import { recordOutcome } from './record-outcome.ts';
import { reportToCircuit, submitSafely } from './submit-safely.ts';

const THROTTLE_RETRY_MS = 2000;
const ATTEMPTS_MAX = 16;

/** The staged media of an order, and those of its source if a channel needs them. */
export interface AllMedia {
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly source: SourceMedia | undefined;
}

/** Why a channel did not accept an order that another channel may accept. */
type Skipped = { readonly why: 'fault' | 'unfit' } | { readonly why: 'limit'; readonly retryAfterMs: number };

/** The outcome of an attempt, and the task that it leaves; undefined if another process has decided over the task. */
interface Tried {
  readonly submission: Submission;
  readonly task: Task | undefined;
}

/**
 * Tries the channels in order until one accepts the order. Returns the task as it was then written. An answer that was
 * lost ends the attempts too: the task lives on with an unknown outcome. Throws if the order itself is refused, or if
 * no channel accepted it.
 */
export async function submitAttempts(
  deps: Deps,
  task: NewTask,
  resolved: ResolvedOrder,
  staged: AllMedia,
): Promise<Task | undefined> {
  const skipped: Skipped[] = [];
  let number = 0;
  for (const runtime of resolved.runtimes.slice(0, ATTEMPTS_MAX)) {
    const begun = await beginAttempt(deps, task, runtime, number + 1);
    if (begun !== 'begun') {
      skipped.push(begun);
      continue;
    }
    number += 1;
    const { submission, task: left } = await tryChannel(deps, task, { runtime, resolved, staged, number });
    if (submission.outcome !== 'refused') return left;
    if (submission.fault === 'content') throw contentRejected();
    if (submission.fault === 'order') throw orderRejected();
    if (submission.fault === 'throttle')
      skipped.push({ why: 'limit', retryAfterMs: submission.retryAfterMs ?? THROTTLE_RETRY_MS });
    else skipped.push({ why: submission.fault === 'unfit' ? 'unfit' : 'fault' });
  }
  throw noneAccepted(skipped);
}

/** Refuses, as the attempts would, an order for which no channel is open now. Takes none of the channels' limits. */
export async function assertOpenChannel(deps: Pick<Deps, 'store'>, runtimes: readonly ChannelRuntime[]): Promise<void> {
  const skipped: Skipped[] = [];
  for (const runtime of runtimes.slice(0, ATTEMPTS_MAX)) {
    const obstacle = await obstacleOf(deps, runtime);
    if (obstacle === undefined) return;
    skipped.push(obstacle);
  }
  throw noneAccepted(skipped);
}

/** Why an attempt on this channel could not begin now. A half-open circuit may let it through. */
async function obstacleOf(
  { store }: Pick<Deps, 'store'>,
  { circuit, creates, channel: { settings } }: ChannelRuntime,
): Promise<Skipped | undefined> {
  if (circuit.state() === 'open') return { why: 'fault' };
  const waitMs = creates.waitMs();
  if (waitMs > 0) return { why: 'limit', retryAfterMs: waitMs };
  return (await store.inFlight(channelScope(settings.id))) < settings.inFlightMax
    ? undefined
    : { why: 'limit', retryAfterMs: THROTTLE_RETRY_MS };
}

/**
 * If a channel may accept the order later, a retry is worthwhile. The order is at fault only if no channel ever would.
 */
function noneAccepted(skipped: readonly Skipped[]): Problem {
  const waits = skipped.flatMap((one) => (one.why === 'limit' ? [one.retryAfterMs] : []));
  if (skipped.length === 0 || skipped.some(({ why }) => why === 'fault')) return noChannel();
  return waits.length > 0 ? throttled(Math.min(...waits)) : unfit();
}

/** Takes the limits of the channel and writes the attempt as `started`. Nothing has been sent yet. */
async function beginAttempt(
  deps: Deps,
  task: NewTask,
  runtime: ChannelRuntime,
  number: number,
): Promise<'begun' | Skipped> {
  const { settings } = runtime.channel;
  const waitMs = await runtime.creates.admit();
  if (waitMs === Infinity) return { why: 'fault' };
  if (waitMs > 0) return { why: 'limit', retryAfterMs: waitMs };
  const started = await deps.store.startAttempt(task.id, {
    number,
    owner: task.owner,
    channel: settings.id,
    inFlightMax: settings.inFlightMax,
    at: deps.clock.now(),
  });
  if (started) return 'begun';
  runtime.circuit.undecided();
  return { why: 'limit', retryAfterMs: THROTTLE_RETRY_MS };
}

interface Try {
  readonly runtime: ChannelRuntime;
  readonly resolved: ResolvedOrder;
  readonly staged: AllMedia;
  readonly number: number;
}

async function tryChannel(deps: Deps, task: NewTask, inputs: Try): Promise<Tried> {
  const { runtime, number } = inputs;
  const { channel, circuit } = runtime;
  const { settings } = channel;
  // A submission that has begun is finished even if the client leaves. The deadline of the channel bounds the call.
  const { signal } = new AbortController();
  const attempt = await plan(deps, task, inputs, signal);
  const submission = await submitSafely(channel, attempt, signal);
  deps.count.attempt(settings.id, submission.outcome);
  reportToCircuit(circuit, submission);
  if (submission.outcome !== 'accepted')
    deps.log.warn(
      { taskId: task.id, channel: settings.id, number, outcome: submission.outcome, error: submission.error },
      'an attempt was not accepted',
    );
  const left = await recordOutcome(deps, task, { settings, number }, submission);
  // From here on the owner can see it.
  if (left !== undefined) deps.announce(left);
  return { submission, task: left };
}

/** If the attempt cannot be planned, nothing was sent: it is written as refused. */
async function plan(
  deps: Deps,
  task: NewTask,
  { runtime: { channel, circuit }, resolved, staged, number }: Try,
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
