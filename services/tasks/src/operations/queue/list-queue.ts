import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { channelScope } from '../../domain/in-flight-scope.ts';
import { SCHEDULED_LANE, isBetterClass, readLane } from '../../domain/lane.ts';
import type { Lane, QueueClass } from '../../domain/lane.ts';
import type { Task } from '../../domain/task.ts';
import type { FoundPlace, WaitingAccount, WaitingLane } from '../../store/queue-store.ts';
import { findObstacle } from '../attempts/submit-attempts.ts';
import type { Deps } from '../deps.ts';
import { taskNotFound, taskNotWaiting } from '../task-refusals.ts';
import { listLaneChannels } from './lane-channels.ts';

/** The reason why the next task of a lane, of an account or of a token has no turn now. */
export type WaitReason =
  | 'behind_others'
  | 'channel_limit'
  | 'channel_down'
  | 'channel_paused'
  | 'no_channel'
  | 'own_limit'
  | 'behind_own_tasks'
  | 'class'
  | 'held'
  | 'scheduled';

export interface LaneView extends WaitingLane {
  /** Absent: the lane of tasks that have no turn before a time. */
  readonly shared?: Lane | undefined;
  readonly turnsPerMinute: number;
  readonly isHeld: boolean;
  readonly why: WaitReason;
  readonly channels: readonly { readonly id: string; readonly inFlight: number; readonly limit: number }[];
}

export interface AccountView extends WaitingAccount {
  readonly shared?: Lane | undefined;
  /** From 0 to 1, of the turns of its lane. */
  readonly share: number;
  readonly why: WaitReason;
}

export interface QueueListing {
  readonly lanes: readonly LaneView[];
  readonly accounts: readonly AccountView[];
  readonly hasMore: boolean;
  readonly total: number;
  readonly totalMax: number;
}

export interface QueueFilter {
  readonly model?: string | undefined;
  readonly class?: QueueClass | undefined;
  readonly accountId?: string | undefined;
}

const ACCOUNTS_MAX = 200;

/** Lists the lanes in which tasks wait, and the accounts that wait in them, each with the reason. */
export async function listQueue(deps: Deps, filter: QueueFilter): Promise<QueueListing> {
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
  const lanes = await Promise.all(chosen.map((lane) => viewLane(deps, known, lane)));
  const byName = new Map(lanes.map((lane) => [lane.lane, lane]));
  return {
    lanes,
    accounts: accounts.map((account) => viewAccount(account, byName.get(account.lane))),
    hasMore: found.length > ACCOUNTS_MAX,
    total,
    totalMax: queue.limits?.total ?? 0,
  };
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

async function viewLane(deps: Deps, known: KnownQueue, waiting: WaitingLane): Promise<LaneView> {
  const shared = readShared(waiting.lane);
  const runtimes = shared === undefined ? [] : listLaneChannels(deps, waiting.lane);
  const channels = await Promise.all(
    runtimes.map(async ({ channel: { settings } }) => ({
      id: settings.id,
      inFlight: await readInFlight(deps, known, settings.id),
      limit: settings.inFlightMax,
    })),
  );
  return {
    ...waiting,
    shared,
    turnsPerMinute: deps.queue.rates.readPerMinute(waiting.lane),
    isHeld: known.heldModels.includes(shared?.model ?? ''),
    why: shared === undefined ? 'scheduled' : await explainLane(deps, known, shared, runtimes),
    channels: channels.sort((one, other) => (one.id < other.id ? -1 : 1)),
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
): Promise<WaitReason> {
  if (known.heldModels.includes(lane.model)) return 'held';
  if (runtimes.length === 0) return 'no_channel';
  const obstacles = await Promise.all(runtimes.map((runtime) => findChannelObstacle(deps, known, runtime)));
  const usable = obstacles.filter((obstacle) => obstacle !== 'paused');
  if (usable.length === 0) return 'channel_paused';
  if (usable.every((obstacle) => obstacle === 'open')) return 'channel_down';
  if (usable.every((obstacle) => obstacle !== undefined)) return 'channel_limit';
  return known.lanes.some(({ lane: other, weights }) => weights > 0 && goesBefore(readShared(other), lane))
    ? 'class'
    : 'behind_others';
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

function viewAccount(account: WaitingAccount, lane: LaneView | undefined): AccountView {
  const { isHeld, isReady, weight } = account;
  const takesTurns = isReady && !isHeld;
  return {
    ...account,
    shared: lane?.shared,
    share: takesTurns && lane !== undefined ? weight / Math.max(lane.weights, weight) : 0,
    why: explainFlow({ isHeld, isReady, lane: lane?.why ?? 'behind_others' }),
  };
}

/** The reasons of an account or a token go before those of its lane. */
function explainFlow(flow: {
  readonly isHeld: boolean;
  readonly isReady: boolean;
  readonly lane: WaitReason;
}): WaitReason {
  if (flow.isHeld || flow.lane === 'held') return 'held';
  if (flow.lane === 'scheduled') return 'scheduled';
  return flow.isReady ? flow.lane : 'own_limit';
}

/** The place of a task that waits, and the reason. */
export interface ExplainedPlace {
  readonly place: FoundPlace;
  /** The lane in which it waits, from its time on. */
  readonly shared: Lane;
  readonly why: WaitReason;
}

export async function explainPlace(deps: Deps, taskId: string): Promise<ExplainedPlace> {
  const [{ place }, known] = await Promise.all([findQueued(deps, taskId), readKnown(deps)]);
  const { lane, nextLane, isHeld, isReady, position } = place;
  const shared = readLane(nextLane ?? lane);
  const ofLane =
    nextLane !== undefined && !known.heldModels.includes(shared.model)
      ? 'scheduled'
      : await explainLane(deps, known, shared, listLaneChannels(deps, nextLane ?? lane));
  const why = explainFlow({ isHeld, isReady, lane: ofLane });
  return { place, shared, why: why === 'behind_others' && position > 0 ? 'behind_own_tasks' : why };
}

/** Refuses a task that does not wait, or that has its turn. */
export async function findQueued(
  { store }: Pick<Deps, 'store'>,
  taskId: string,
): Promise<{ readonly task: Task; readonly place: FoundPlace }> {
  const [task, place] = await Promise.all([store.find(taskId), store.findPlace(taskId)]);
  if (task === undefined) throw taskNotFound();
  if (place === undefined) throw taskNotWaiting();
  return { task, place };
}
