import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { QueueClass as WireClass, QueuePlaceSchema, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import {
  ListQueueResponseSchema,
  QueueAccountSchema,
  QueueChannelSchema,
  QueueLaneSchema,
  QueueReason,
  ShowQueuedTaskResponseSchema,
} from '@reelgate/proto/tasks/v1/queue_service';
import type {
  ListQueueResponse,
  QueueAccount,
  QueueLane,
  ShowQueuedTaskResponse,
} from '@reelgate/proto/tasks/v1/queue_service';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { channelScope } from '../../domain/in-flight-scope.ts';
import { SCHEDULED_LANE, isBetterClass, readLane } from '../../domain/lane.ts';
import type { Lane, QueueClass } from '../../domain/lane.ts';
import type { Task } from '../../domain/task.ts';
import type { FoundPlace, WaitingAccount, WaitingLane } from '../../store/queue-store.ts';
import { findObstacle } from '../attempts/submit-attempts.ts';
import type { Deps, StoreDeps } from '../deps.ts';
import { taskNotFound, taskNotWaiting } from '../task-refusals.ts';
import { listLaneChannels } from './lane-channels.ts';
import { estimateWaitMs } from '../lanes/lane-rates.ts';

export interface QueueFilter {
  readonly model?: string | undefined;
  readonly class?: QueueClass | undefined;
  readonly accountId?: string | undefined;
}

const KINDS = deriveValues(TaskKind);
const CLASSES = deriveValues(WireClass);
const ACCOUNTS_MAX = 200;

/** Lists the lanes in which tasks wait, and the accounts that wait in them, each with the reason. */
export async function listQueue(deps: Deps, filter: QueueFilter): Promise<ListQueueResponse> {
  const { store, queue } = deps;
  const { accountId } = filter;
  const [known, { total }] = await Promise.all([readKnown(deps), store.countWaiting(accountId ?? '')]);
  const matching = known.lanes.filter(({ lane }) => matches(filter, readShared(lane)));
  const found = await store.listWaitingAccounts(
    { lanes: matching.map(({ lane }) => lane), accountId },
    ACCOUNTS_MAX + 1,
  );
  const accounts = found.slice(0, ACCOUNTS_MAX);
  const chosen =
    accountId === undefined ? matching : matching.filter(({ lane }) => accounts.some((one) => one.lane === lane));
  const lanes = await Promise.all(chosen.map((lane) => explainWaitingLane(deps, known, lane)));
  const byName = new Map(lanes.map((lane) => [lane.waiting.lane, lane]));
  return toMessage(ListQueueResponseSchema, {
    lanes: await Promise.all(lanes.map((lane) => describeLane(deps, known, lane))),
    accounts: accounts.map((account) => describeAccount(account, byName.get(account.lane))),
    hasMore: found.length > ACCOUNTS_MAX,
    total: BigInt(total),
    totalLimit: BigInt(queue.limits?.total ?? 0),
  });
}

function matches(filter: QueueFilter, shared: Lane | undefined): boolean {
  return (
    (filter.model === undefined || filter.model === shared?.model) &&
    (filter.class === undefined || filter.class === shared?.class)
  );
}

function readShared(lane: string): Lane | undefined {
  return lane === SCHEDULED_LANE ? undefined : readLane(lane);
}

/** The lanes in which tasks wait, and the models that operators hold. */
interface KnownQueue {
  readonly lanes: readonly WaitingLane[];
  readonly heldModels: readonly string[];
  /** The counters of the channels, each read once. */
  readonly inFlight: Map<string, Promise<number>>;
}

async function readKnown({ store }: Deps): Promise<KnownQueue> {
  const [lanes, heldModels] = await Promise.all([store.listWaitingLanes(), store.listHeldModels()]);
  return { lanes, heldModels, inFlight: new Map() };
}

interface ExplainedLane {
  readonly waiting: WaitingLane;
  /** Undefined for the lane of tasks that have no turn before a time. */
  readonly shared: Lane | undefined;
  readonly runtimes: readonly ChannelRuntime[];
  readonly reason: QueueReason;
}

async function explainWaitingLane(deps: Deps, known: KnownQueue, waiting: WaitingLane): Promise<ExplainedLane> {
  const shared = readShared(waiting.lane);
  if (shared === undefined) return { waiting, shared, runtimes: [], reason: QueueReason.SCHEDULED };
  const runtimes = listLaneChannels(deps, waiting.lane);
  return { waiting, shared, runtimes, reason: await explainLane(deps, known, shared, runtimes) };
}

async function describeLane(deps: Deps, known: KnownQueue, lane: ExplainedLane): Promise<QueueLane> {
  const { waiting, shared, runtimes, reason } = lane;
  const channels = await Promise.all(
    runtimes.map(async ({ channel: { settings } }) =>
      toMessage(QueueChannelSchema, {
        id: settings.id,
        inFlight: BigInt(await readInFlight(deps, known, settings.id)),
        inFlightLimit: BigInt(settings.inFlightMax),
      }),
    ),
  );
  return toMessage(QueueLaneSchema, {
    ...describeShared(shared),
    waiting: BigInt(waiting.waiting),
    oldestSince: timestampFromMs(waiting.oldestSince),
    startsPerMinute: deps.queue.rates.readPerMinute(waiting.lane),
    held: known.heldModels.includes(shared?.model ?? ''),
    reason,
    channels: channels.sort((one, other) => (one.id < other.id ? -1 : 1)),
  });
}

/** The members of a lane that decide its channels. They stay unset for the lane of tasks before their time. */
function describeShared(shared: Lane | undefined) {
  return {
    kind: shared && KINDS[shared.kind],
    model: shared?.model,
    class: shared && CLASSES[shared.class],
  };
}

function readInFlight({ store }: Deps, { inFlight }: KnownQueue, channelId: string): Promise<number> {
  const read = inFlight.get(channelId) ?? store.inFlight(channelScope(channelId));
  inFlight.set(channelId, read);
  return read;
}

async function explainLane(
  deps: Deps,
  known: KnownQueue,
  lane: Lane,
  runtimes: readonly ChannelRuntime[],
): Promise<QueueReason> {
  if (known.heldModels.includes(lane.model)) return QueueReason.HELD;
  if (runtimes.length === 0) return QueueReason.NO_CHANNEL;
  const obstacles = await Promise.all(runtimes.map((runtime) => findChannelObstacle(deps, known, runtime)));
  const usable = obstacles.filter((obstacle) => obstacle !== 'paused');
  if (usable.length === 0) return QueueReason.CHANNEL_PAUSED;
  if (usable.every((obstacle) => obstacle === 'open')) return QueueReason.CHANNEL_DOWN;
  if (usable.every((obstacle) => obstacle !== undefined)) return QueueReason.CHANNEL_LIMIT;
  return known.lanes.some(({ lane: other, weights }) => weights > 0 && goesBefore(readShared(other), lane))
    ? QueueReason.CLASS
    : QueueReason.BEHIND_OTHERS;
}

async function findChannelObstacle(
  deps: Deps,
  known: KnownQueue,
  runtime: ChannelRuntime,
): Promise<string | undefined> {
  const { id, inFlightMax } = runtime.channel.settings;
  const isFull = (await readInFlight(deps, known, id)) >= inFlightMax;
  return findObstacle(runtime)?.why ?? (isFull ? 'limit' : undefined);
}

function goesBefore(other: Lane | undefined, lane: Lane): boolean {
  return (
    other !== undefined &&
    other.kind === lane.kind &&
    other.model === lane.model &&
    isBetterClass(other.class, lane.class)
  );
}

function describeAccount(account: WaitingAccount, lane: ExplainedLane | undefined): QueueAccount {
  const { accountId, waiting, oldestSince, isHeld, isReady, weight } = account;
  const takesTurns = isReady && !isHeld;
  return toMessage(QueueAccountSchema, {
    ...describeShared(lane?.shared),
    ...{ accountId, weight },
    waiting: BigInt(waiting),
    oldestSince: timestampFromMs(oldestSince),
    share: takesTurns && lane !== undefined ? weight / Math.max(lane.waiting.weights, weight) : 0,
    held: isHeld,
    reason: explainFlow({ isHeld, isReady, lane: lane?.reason ?? QueueReason.BEHIND_OTHERS }),
  });
}

/** The reasons of an account or a token go before the reasons of its lane. */
function explainFlow(flow: {
  readonly isHeld: boolean;
  readonly isReady: boolean;
  readonly lane: QueueReason;
}): QueueReason {
  if (flow.isHeld || flow.lane === QueueReason.HELD) return QueueReason.HELD;
  if (flow.lane === QueueReason.SCHEDULED) return QueueReason.SCHEDULED;
  return flow.isReady ? flow.lane : QueueReason.OWN_LIMIT;
}

/** Explains why a task that waits has no turn now. */
export async function explainPlace(deps: Deps, taskId: string): Promise<ShowQueuedTaskResponse> {
  const [{ place }, known] = await Promise.all([findQueued(deps, taskId), readKnown(deps)]);
  const { lane, nextLane, isHeld, isReady, position } = place;
  // The lane in which it waits, from its time on.
  const shared = readLane(nextLane ?? lane);
  const ofLane =
    nextLane !== undefined && !known.heldModels.includes(shared.model)
      ? QueueReason.SCHEDULED
      : await explainLane(deps, known, shared, listLaneChannels(deps, nextLane ?? lane));
  const reason = explainFlow({ isHeld, isReady, lane: ofLane });
  return toMessage(ShowQueuedTaskResponseSchema, {
    accountId: place.accountId,
    tokenId: place.tokenId,
    kind: KINDS[shared.kind],
    model: shared.model,
    place: toQueuePlace(deps, place),
    reason: reason === QueueReason.BEHIND_OTHERS && position > 0 ? QueueReason.BEHIND_OWN_TASKS : reason,
    costSeconds: BigInt(place.cost),
  });
}

/** Refuses a task that does not wait, or that has its turn. */
export async function findQueued(
  { store }: StoreDeps,
  taskId: string,
): Promise<{ readonly task: Task; readonly place: FoundPlace }> {
  const [task, place] = await Promise.all([store.find(taskId), store.findPlace(taskId)]);
  if (task === undefined) throw taskNotFound();
  if (place === undefined) throw taskNotWaiting();
  return { task, place };
}

/** Returns undefined if the task does not wait, or has its turn now. */
export async function describePlace(deps: Deps, taskId: string): Promise<QueuePlace | undefined> {
  const place = await deps.store.findPlace(taskId);
  return place && toQueuePlace(deps, place);
}

/** The place of a task as its owner sees it. It does not show other accounts. */
export function toQueuePlace({ clock, queue }: Pick<Deps, 'clock' | 'queue'>, place: FoundPlace): QueuePlace {
  const { lane, nextLane, position, since, startBy } = place;
  const isScheduled = lane === SCHEDULED_LANE;
  const waitMs =
    isScheduled || !place.isReady || place.isHeld
      ? undefined
      : estimateWaitMs({ ...place, perMinute: queue.rates.readPerMinute(lane) });
  const expectedAt = waitMs === undefined ? undefined : clock.now() + waitMs;
  return toMessage(QueuePlaceSchema, {
    position,
    estimatedStartAt: toTimestamp(isScheduled ? place.notBefore : expectedAt),
    since: timestampFromMs(since),
    startBy: timestampFromMs(startBy),
    class: CLASSES[readLane(nextLane ?? lane).class],
    waitsFor: isScheduled ? QueueWait.SCHEDULED : place.isReady ? QueueWait.CAPACITY : QueueWait.OWN_LIMIT,
  });
}
