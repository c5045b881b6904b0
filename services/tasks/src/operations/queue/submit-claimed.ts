import { OPEN_MS } from '@reelgate/platform/limits/circuit-breaker';
import { Problem } from '@reelgate/platform/problem';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import type { Submission } from '../../channels/channel.ts';
import type { AttemptFault, ClaimedTask, ReturnedAttempt } from '../../store/queue-store.ts';
import { UncertainOutcome } from '../attempts/record-outcome.ts';
import { submitAndRecord } from '../attempts/submit-attempts.ts';
import type { Refusal } from '../attempts/submit-attempts.ts';
import type { Deps } from '../deps.ts';
import { endTask } from '../ends/end-task.ts';
import { contentRejected, orderRejected, unfit } from '../task-refusals.ts';
import { inTask, inWorkSpan } from '../tracing/work-span.ts';
import { listLaneChannels, nameLastLane, nameLaneWithout } from './lane-channels.ts';
import { readMedia } from './wait-for-channel.ts';

const TURN = { name: 'take turn' };
/**
 * A task that was refused this often waits in the lowest class, so that it keeps no others from their turns. An upstream
 * that limits its callers has not judged the task, which stays in its class.
 */
const TRIES_IN_CLASS = 3;
/** Its pause from then on, which doubles with each refusal: other tasks of its token have their turns in it. */
const PAUSE_MIN_MS = 5000;
const PAUSE_MAX_MS = 60_000;
const LEFT_ALONE = 'not sent: the channel is left alone after faults with the orders of this account';

/** A task at its turn on a channel. */
interface Turn extends ClaimedTask {
  readonly channel: string;
  /** Called with the refusal of the upstream before the task can have its next turn. */
  readonly onRefused: (refusal: Refusal) => void;
}

/**
 * Submits a task at its turn. It ends as a create does, but for a refusal: the task was promised to its owner, so it
 * returns to its place, or fails. `onRefused` is called before another process can see it there. If this throws, the
 * recovery decides over the task.
 */
export async function submitClaimed(
  deps: Deps,
  claimed: ClaimedTask,
  runtime: ChannelRuntime,
  onRefused: (refusal: Refusal) => void,
): Promise<void> {
  const { task, number } = claimed;
  const turn = { ...claimed, channel: runtime.channel.settings.id, onRefused };
  deps.creating.set(task.id, 'working');
  try {
    await inTask(task, async () => {
      if (!mayTry(runtime, task.accountId)) {
        await giveBack(deps, turn, { error: LEFT_ALONE, notBefore: deps.clock.now() + OPEN_MS });
        return;
      }
      deps.log.info({ taskId: task.id, channel: turn.channel, number }, 'a task has its turn');
      const submission = await submitOrGiveBack(deps, turn, runtime);
      if (submission !== undefined && submission.outcome !== 'refused') await deps.store.removePlace(task.id);
    });
  } finally {
    deps.creating.delete(task.id);
  }
}

/**
 * Reports whether the channel may be tried with an order of this account. The account was not known yet when the turn
 * was taken.
 */
function mayTry({ circuit }: ChannelRuntime, accountId: string): boolean {
  circuit.undecided();
  return circuit.mayTry(accountId);
}

/** Undefined if the task was not sent, and another turn may succeed. */
async function submitOrGiveBack(deps: Deps, turn: Turn, runtime: ChannelRuntime): Promise<Submission | undefined> {
  const { task, place, number } = turn;
  const { sourceTaskId } = task.order;
  try {
    const source = sourceTaskId === undefined ? undefined : await deps.store.find(sourceTaskId);
    const media = readMedia(place.mediaJson);
    const { submission } = await inWorkSpan(deps, task, TURN, (span) =>
      submitAndRecord(deps, { task, source, media, span }, { runtime, number }, async (_error, refusal) => {
        if (refusal !== undefined) await applyRefusal(deps, turn, refusal);
      }),
    );
    return submission;
  } catch (error) {
    if (error instanceof UncertainOutcome) throw error;
    if (isPassing(error)) await giveBack(deps, turn, { error: String(error) });
    else await passOn(deps, turn, { error: String(error) });
    return undefined;
  }
}

/** A part of the service was away while the attempt was planned. */
function isPassing(error: unknown): boolean {
  return error instanceof StoreUnavailable || (error instanceof Problem && error.kind === 'unavailable');
}

async function applyRefusal(deps: Deps, turn: Turn, refusal: Refusal): Promise<void> {
  const { fault, error } = refusal;
  turn.onRefused(refusal);
  if (fault === 'content') return fail(deps, turn, { error, fault, problem: contentRejected() });
  if (fault === 'order') return fail(deps, turn, { error, fault, problem: orderRejected() });
  if (fault === 'unfit') return passOn(deps, turn, { error, fault });
  if (fault === 'throttle') return giveBack(deps, turn, { error, fault, notBefore: findThrottledTurn(deps, turn) });
  const refusals = turn.place.refusals + 1;
  if (refusals < TRIES_IN_CLASS) return giveBack(deps, turn, { error, fault, refusals });
  return giveBack(deps, turn, {
    ...{ error, fault, refusals },
    lane: nameLastLane(turn.place.lane),
    notBefore: deps.clock.now() + computePause(refusals),
  });
}

/**
 * Returns the time before which a throttled task has no turn; undefined if it has its next one after the wait of its
 * channel. An order that its upstream throttles each time would be the next one again after each wait, and stop the
 * channel for all others, so from its third throttle on it waits by itself too.
 */
function findThrottledTurn({ clock }: Deps, { number, place }: Turn): number | undefined {
  const throttles = number - place.refusals;
  return throttles < TRIES_IN_CLASS ? undefined : clock.now() + computePause(throttles);
}

/** The pause of a task after this number of refusals, in milliseconds. */
function computePause(refusals: number): number {
  return Math.min(PAUSE_MIN_MS * 2 ** (refusals - TRIES_IN_CLASS), PAUSE_MAX_MS);
}

/** The channel cannot do this task, whenever it is asked. The task goes on in the lane without it. */
async function passOn(deps: Deps, turn: Turn, refused: AttemptFault): Promise<void> {
  const lane = nameLaneWithout(turn.place.lane, turn.channel);
  if (listLaneChannels(deps, lane).length === 0) await fail(deps, turn, { ...refused, problem: unfit() });
  else await giveBack(deps, turn, { ...refused, lane });
}

async function giveBack(
  { store, clock, log, queue, processId: owner }: Deps,
  { task, number, channel, place }: Turn,
  returned: Omit<ReturnedAttempt, 'number' | 'owner' | 'channel' | 'at'>,
): Promise<void> {
  await store.returnToQueue(task.id, { ...returned, number, owner, channel, at: clock.now() });
  queue.lanes.add(returned.lane ?? place.lane);
  log.info({ taskId: task.id, channel, number }, 'a task returned to its place in the queue');
}

async function fail(
  deps: Deps,
  { task, number, channel }: Turn,
  { problem: { reason, message }, ...refused }: AttemptFault & { readonly problem: Problem },
): Promise<void> {
  const at = deps.clock.now();
  await deps.store.refuseAttempt(task.id, { ...refused, number, channel, at });
  await endTask(deps, task, { state: 'failed', at, failure: { code: reason, message } });
  await deps.store.removePlace(task.id);
}
