import type { Problem } from '@reelgate/platform/problem';
import type { Attempt, Channel, Submission } from '../../channels/channel.ts';
import type { Circuit } from '@reelgate/platform/limits/circuit-breaker';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { channelScope } from '../../domain/in-flight-scope.ts';
import { pollInterval } from '../../domain/poll-interval.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';
import { planAttempt } from './plan-attempt.ts';
import { raiseAttention } from '../attention/raise-attention.ts';
import { contentRejected, noChannel, orderRejected, throttled, unfit } from '../task-refusals.ts';
import type { ResolvedOrder } from '../creates/resolve-order.ts';
import type { SourceMedia } from '../staging/stage-source.ts';

const THROTTLE_RETRY_MS = 2000;
const ATTEMPTS_MAX = 16;
const RECORD_TRIES_MAX = 60;
const RECORD_RETRY_MS = 500;
const ID_KNOWN = 'the upstream answered with the id of work that another task has';

/** What a refusal says of the channel: an upstream that answers works, and one that was not asked has shown nothing. */
const CIRCUIT_AFTER: Readonly<Record<Fault, (circuit: Circuit) => void>> = {
  channel: (circuit) => {
    circuit.failed();
  },
  throttle: (circuit) => {
    circuit.worked();
  },
  content: (circuit) => {
    circuit.worked();
  },
  order: (circuit) => {
    circuit.worked();
  },
  unfit: (circuit) => {
    circuit.undecided();
  },
};

/** An upstream may have taken the order, and that could not be written down. */
export class UncertainOutcome extends Error {
  override readonly name = 'UncertainOutcome';
}

/** The frozen media of an order, and those of its source where a channel is given them. */
export interface AllMedia {
  readonly byIndex: ReadonlyMap<number, StagedMedia>;
  readonly source: SourceMedia | undefined;
}

type Fault = Extract<Submission, { outcome: 'refused' }>['fault'];

/** Why a channel did not take an order, when another may. */
type Passed = { readonly why: 'fault' | 'unfit' } | { readonly why: 'limit'; readonly retryAfterMs: number };

/** What an attempt came to, and the task as its outcome left it; undefined where somebody else has decided over it. */
interface Tried {
  readonly submission: Submission;
  readonly task: Task | undefined;
}

/**
 * Tries the channels in turn until one takes the order. Ends quietly when one did, or when an answer was lost: then the task lives on
 * with an unknown outcome. A refusal of the order itself ends it; so does the last channel. Gives the task as it was then written.
 */
export async function submitAttempts(
  deps: Deps,
  task: NewTask,
  resolved: ResolvedOrder,
  staged: AllMedia,
): Promise<Task | undefined> {
  const passed: Passed[] = [];
  let number = 0;
  for (const runtime of resolved.runtimes.slice(0, ATTEMPTS_MAX)) {
    const limit = await enter(deps, task, runtime, number + 1);
    if (limit !== 'entered') {
      passed.push(limit);
      continue;
    }
    number += 1;
    const { submission, task: left } = await tryChannel(deps, task, { runtime, resolved, staged, number });
    if (submission.outcome !== 'refused') return left;
    if (submission.fault === 'content') throw contentRejected();
    if (submission.fault === 'order') throw orderRejected();
    if (submission.fault === 'throttle')
      passed.push({ why: 'limit', retryAfterMs: submission.retryAfterMs ?? THROTTLE_RETRY_MS });
    else passed.push({ why: submission.fault === 'unfit' ? 'unfit' : 'fault' });
  }
  throw noneAccepted(passed);
}

/** Refuses, as the attempts would, an order whose every channel is left alone now or at its limit. It takes none of the limits. */
export async function assertOpenChannel(deps: Pick<Deps, 'store'>, runtimes: readonly ChannelRuntime[]): Promise<void> {
  const passed: Passed[] = [];
  for (const runtime of runtimes.slice(0, ATTEMPTS_MAX)) {
    const shut = await metNow(deps, runtime);
    if (shut === undefined) return;
    passed.push(shut);
  }
  throw noneAccepted(passed);
}

/** What an attempt at this channel would meet before anything is sent; half open, it may be let through. */
async function metNow(
  { store }: Pick<Deps, 'store'>,
  { circuit, creates, channel: { settings } }: ChannelRuntime,
): Promise<Passed | undefined> {
  if (circuit.state() === 'open') return { why: 'fault' };
  const waitMs = creates.waitMs();
  if (waitMs > 0) return { why: 'limit', retryAfterMs: waitMs };
  return (await store.inFlight(channelScope(settings.id))) < settings.inFlightMax
    ? undefined
    : { why: 'limit', retryAfterMs: THROTTLE_RETRY_MS };
}

/** A channel that may take the order another time is worth another try; only where none ever would is the order itself at fault. */
function noneAccepted(passed: readonly Passed[]): Problem {
  const waits = passed.flatMap((one) => (one.why === 'limit' ? [one.retryAfterMs] : []));
  if (passed.length === 0 || passed.some(({ why }) => why === 'fault')) return noChannel();
  return waits.length > 0 ? throttled(Math.min(...waits)) : unfit();
}

/** Takes the channel's limits and writes the attempt as started; nothing has been sent yet. */
async function enter(deps: Deps, task: NewTask, runtime: ChannelRuntime, number: number): Promise<'entered' | Passed> {
  const { settings } = runtime.channel;
  if (!runtime.circuit.mayTry()) return { why: 'fault' };
  if (!runtime.creates.take()) return metLimit(runtime, runtime.creates.waitMs());
  const started = await deps.store.startAttempt(task.id, {
    number,
    owner: task.owner,
    channel: settings.id,
    inFlightMax: settings.inFlightMax,
    at: deps.clock.now(),
  });
  return started ? 'entered' : metLimit(runtime, THROTTLE_RETRY_MS);
}

function metLimit({ circuit }: ChannelRuntime, retryAfterMs: number): Passed {
  circuit.undecided();
  return { why: 'limit', retryAfterMs };
}

interface Try {
  readonly runtime: ChannelRuntime;
  readonly resolved: ResolvedOrder;
  readonly staged: AllMedia;
  readonly number: number;
}

async function tryChannel(deps: Deps, task: NewTask, { runtime, resolved, staged, number }: Try): Promise<Tried> {
  const { channel } = runtime;
  const { settings } = channel;
  // The client may leave: work that was begun is finished all the same. The channel's own deadline bounds the call.
  const { signal } = new AbortController();
  let attempt: Attempt;
  try {
    attempt = await planAttempt(
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
    runtime.circuit.undecided();
    await deps.store.refuseAttempt(task.id, {
      number,
      channel: settings.id,
      error: String(error),
      at: deps.clock.now(),
    });
    throw error;
  }
  const submission = await submitSurely(channel, attempt, signal);
  deps.count.attempt(settings.id, submission.outcome);
  judge(runtime.circuit, submission);
  if (submission.outcome !== 'accepted')
    deps.log.warn(
      { taskId: task.id, channel: settings.id, number, outcome: submission.outcome, error: submission.error },
      'an attempt was not accepted',
    );
  return { submission, task: await recordSurely(deps, task, { runtime, number }, submission) };
}

/** Once for each submission, whatever becomes of writing it down. A hanging channel is left alone: each order given to it needs to be found, or a person. */
function judge(circuit: Circuit, submission: Submission): void {
  if (submission.outcome === 'accepted') circuit.worked();
  else if (submission.outcome === 'unknown') circuit.failed();
  else CIRCUIT_AFTER[submission.fault](circuit);
}

/** A channel throws nothing; should one do so all the same, nobody knows what its upstream has taken. */
async function submitSurely(channel: Channel, attempt: Attempt, signal: AbortSignal): Promise<Submission> {
  try {
    return await channel.submit(attempt, signal);
  } catch (error) {
    return { outcome: 'unknown', error: String(error) };
  }
}

/** Writes the outcome down through a while without the database; what was refused may be given up, what was not may not. */
async function recordSurely(
  deps: Deps,
  task: NewTask,
  at: Pick<Try, 'runtime' | 'number'>,
  submission: Submission,
): Promise<Task | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await record(deps, task, at, submission);
    } catch (error) {
      deps.log.error({ taskId: task.id, tries, err: error }, 'the outcome of an attempt could not be written');
      if (tries >= RECORD_TRIES_MAX)
        throw submission.outcome === 'refused'
          ? error
          : new UncertainOutcome('the outcome of an attempt could not be written', { cause: error });
      await deps.clock.sleep(RECORD_RETRY_MS);
    }
  }
}

async function record(
  deps: Deps,
  task: NewTask,
  { runtime, number }: Pick<Try, 'runtime' | 'number'>,
  submission: Submission,
): Promise<Task | undefined> {
  const { id: channel, upstreamAccount } = runtime.channel.settings;
  const at = deps.clock.now();
  const leaveUnknown = (error: string): Promise<Task | undefined> =>
    deps.store.leaveUnknown(task.id, { number, mapping: { channel, upstreamAccount }, error, at });
  if (submission.outcome === 'unknown') return leaveUnknown(submission.error);
  if (submission.outcome === 'refused') {
    await deps.store.refuseAttempt(task.id, { number, channel, error: submission.error, at });
    return undefined;
  }
  const nextPollAt = at + pollInterval(deps.pollPlan, 0, deps.chance());
  const taken = await deps.store.accept(task.id, {
    number,
    mapping: { channel, upstreamAccount, upstreamId: submission.upstreamId },
    at,
    nextPollAt,
  });
  if (taken !== 'id_known') return taken;
  const left = await leaveUnknown(ID_KNOWN);
  await raiseAttention(deps, task, 'unknown_outcome', ID_KNOWN);
  return left;
}
