import { Overtaken } from '@reelgate/platform/service-unavailable';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { computeCost } from '../../domain/fair-queue.ts';
import { SCHEDULED_LANE } from '../../domain/lane.ts';
import type { StagedMedia, Task } from '../../domain/task.ts';
import type { WaitPlan } from '../../domain/wait-plan.ts';
import type { CreateContext, CreateMedia } from '../create-context.ts';
import { showTask } from '../attempts/record-outcome.ts';
import type { Deps, QueueLimits } from '../deps.ts';
import { queueFull, wouldWaitTooLong } from '../task-refusals.ts';
import { nameCreateLane } from './lane-channels.ts';
import { estimateWaitMs } from '../lanes/lane-rates.ts';

/** The answer of the database to a wait was lost, so the task may wait or not. */
export class UncertainWait extends Error {
  override readonly name = 'UncertainWait';
  override readonly cause: StoreUnavailable;

  constructor(message: string, cause: StoreUnavailable) {
    super(message);
    this.cause = cause;
  }
}

/**
 * Lets a create wait for its turn, in place of a refusal. It has its hold and its staged media, so from here on it
 * needs neither its caller nor this process. Throws Overtaken if another process has taken the create over: it was not
 * sent, so that process refuses it, now or in a moment.
 */
export async function waitForChannel(
  deps: Deps,
  create: CreateContext,
  plan: WaitPlan,
  limits: QueueLimits,
): Promise<Task> {
  const { store, clock, log, queue, wake } = deps;
  const { id: taskId, accountId, tokenId, seconds, owner } = create.task;
  const lane = nameCreateLane(deps, create, plan.class);
  const since = clock.now();
  const { notBefore } = plan;
  await assertPlaceLeft(deps, { accountId, lane, limits });
  if (notBefore === undefined) await assertTurnInTime(deps, { accountId, tokenId, lane, plan });
  const place = {
    ...{ taskId, lane, accountId, tokenId, since, caps: create.caps },
    ...(notBefore === undefined ? {} : { lane: SCHEDULED_LANE, nextLane: lane, notBefore }),
    cost: computeCost(seconds),
    startBy: (notBefore ?? since) + plan.startWithinMs,
    mediaJson: writeMedia(create.media),
    refusals: 0,
  };
  const waiting = await store.enqueue(place, owner).catch((error: unknown) => {
    throw error instanceof StoreUnavailable ? new UncertainWait('it is not known whether a task waits', error) : error;
  });
  if (waiting === undefined) throw new Overtaken(`the create of ${taskId} was taken over`);
  log.info({ taskId, accountId }, 'a task waits for a channel');
  showTask(deps, waiting);
  if (notBefore === undefined) queue.lanes.add(lane);
  // Its place at its own limit, if it took one, is free again.
  wake.queue(tokenId);
  return waiting;
}

interface Entry {
  readonly accountId: string;
  readonly lane: string;
}

/** Creates that arrive at the same moment may pass the limit by their number. */
async function assertPlaceLeft(
  deps: Deps,
  { accountId, lane, limits: { perAccount, total } }: Entry & { readonly limits: QueueLimits },
): Promise<void> {
  const waiting = await deps.store.countWaiting(accountId);
  const isAccountFull = waiting.ofAccount >= perAccount;
  if (!isAccountFull && waiting.total < total) return;
  deps.count.notQueued('queue_full');
  const retryAfterMs = await estimateFree(deps, { accountId, lane }, isAccountFull);
  throw queueFull(isAccountFull ? 'account' : 'service', retryAfterMs);
}

/**
 * The time in which the next task of the account, or of any account, leaves the queue. Undefined if it is not known.
 */
async function estimateFree(
  { store, queue }: Deps,
  { accountId, lane }: Entry,
  ofAccount: boolean,
): Promise<number | undefined> {
  const perMinute = queue.rates.readPerMinute(lane);
  const { weight, weights } = await store.readShare(lane, accountId);
  return estimateWaitMs({ position: 0, weight: ofAccount ? weight : weights, weights, perMinute });
}

/** Refuses a create with a turn that is expected after its client's deadline. */
async function assertTurnInTime(
  { store, queue, count }: Deps,
  { accountId, tokenId, lane, plan }: Entry & { readonly tokenId: string; readonly plan: WaitPlan },
): Promise<void> {
  const { refusedAfterMs } = plan;
  const perMinute = queue.rates.readPerMinute(lane);
  if (refusedAfterMs === undefined || perMinute === 0) return;
  const { weight, weights, ofToken } = await store.readShare(lane, accountId, tokenId);
  const estimateMs = estimateWaitMs({ position: ofToken, weight, weights, perMinute });
  if (estimateMs === undefined || estimateMs <= refusedAfterMs) return;
  count.notQueued('would_wait_too_long');
  throw wouldWaitTooLong(estimateMs);
}

type MediaEntries = readonly (readonly [number, StagedMedia])[];

interface WrittenMedia {
  readonly byIndex: MediaEntries;
  readonly source?: { readonly byIndex: MediaEntries; readonly base: StagedMedia } | undefined;
}

function writeMedia({ byIndex, source }: CreateMedia): string {
  const written: WrittenMedia = {
    byIndex: [...byIndex],
    source: source && { byIndex: [...source.byIndex], base: source.base },
  };
  return JSON.stringify(written);
}

export function readMedia(json: string): CreateMedia {
  const { byIndex, source } = JSON.parse(json) as WrittenMedia;
  return {
    byIndex: new Map(byIndex),
    source: source && { byIndex: new Map(source.byIndex), base: source.base },
  };
}
