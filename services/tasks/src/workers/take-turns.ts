import { isRecent } from '@reelgate/platform/clock';
import { NOTHING_DUE, REST_MAX_MS, startWorker } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { TOTAL_SCOPE, channelScope } from '../domain/in-flight-scope.ts';
import { orderByClass, readLane } from '../domain/lane.ts';
import { newRefusalsInRow } from '../domain/refusals-in-row.ts';
import type { RefusalsInRow } from '../domain/refusals-in-row.ts';
import type { Deps } from '../operations/deps.ts';
import { WAITING_TASKS, computeLongestPace, findObstacle } from '../operations/attempts/submit-attempts.ts';
import { endWaiting } from '../operations/ends/end-task.ts';
import { listLaneChannels } from '../operations/queue/lane-channels.ts';
import { submitClaimed } from '../operations/queue/submit-claimed.ts';
import type { Claim, ClaimedTask } from '../store/queue-store.ts';
import type { TurnWatch } from '../monitoring/tasks-metrics.ts';

/** Submissions of this process from the queue that may run at once. */
const PARALLEL_MAX = 64;
const IDLE_MS = 100;
const EXPIRED_MAX = 100;
const OLD_PLACES_MAX = 100;
const OLD_WEIGHTS_MAX = 100;
const SCHEDULED_MAX = 100;
/** The time between two removals of the flows of empty lanes, and the most of one removal. They take only space. */
const IDLE_FLOWS_EVERY_MS = 3_600_000;
const IDLE_FLOWS_MAX = 500;
/** Tokens at their limit that a sweep tries again. */
const UNBLOCKED_MAX = 32;
/**
 * A channel that refused a task for a fault of its own is left alone for this long, twice as long after each further
 * refusal in a row. If its upstream asks for a wait, its limits obey that.
 */
const HELD_OFF = { minMs: 100, maxMs: 2000 };
/** A pass begins this much after its time, at most, on a machine that is not overloaded. */
const LATE_MS_MAX = 250;
const QUEUE_TIMEOUT = {
  code: 'queue_timeout',
  message: 'no generator had room for this task within the time that it may wait; send it again',
};

/** Gives the tasks that wait for a channel their turns. */
export interface TurnTaker extends TurnWatch {
  pass(): Promise<PassResult>;
  /** A task of this token has ended, so the token may have room again. */
  freed(tokenId: string): void;
}

export interface QueueWorker extends TurnWatch {
  /** A task began to wait, or one of a token has ended. */
  wake(tokenId?: string): void;
  /** Starts no further submissions. Those that run are left to the stop of the process, like creates. */
  stop(): Promise<void>;
}

interface TurnState {
  /** The tasks that this process submits now. */
  readonly running: Set<string>;
  /** Channels that get no task from the queue before a time. */
  readonly heldOff: Map<string, number>;
  /** The refusals in a row of a channel. */
  readonly refusals: Map<string, RefusalsInRow>;
  /** The tokens of which a task has ended. */
  readonly freed: Set<string>;
  /** The turns that this process gave, for each set of lanes that differ in their class alone. */
  readonly turns: Map<string, number>;
  /** The lanes in which tasks wait and that no channel serves. */
  unserved: ReadonlySet<string>;
  /** The time at which the next pass is due. */
  dueAt: number;
  sweptAt: number;
  /** The time at which idle flows were forgotten. */
  forgotAt: number;
  /** The last token that a sweep has tried again. If it is empty, the next sweep begins with the first token. */
  triedAgain: string;
}

/**
 * `replicas`: the number of live processes, which share the pace of a channel. `wake` begins a pass after a submission
 * that left a channel.
 */
export function turnTaker(deps: Deps, replicas: () => number, wake: () => void): TurnTaker {
  const state: TurnState = {
    running: new Set(),
    heldOff: new Map(),
    refusals: new Map(),
    freed: new Set(),
    turns: new Map(),
    unserved: new Set(),
    dueAt: deps.clock.now(),
    sweptAt: -Infinity,
    forgotAt: deps.clock.now(),
    triedAgain: '',
  };
  return {
    pass: async () => {
      const ended = await endExpired(deps);
      if (ended === EXPIRED_MAX) return ended;
      await deps.store.startScheduled(deps.clock.now(), SCHEDULED_MAX);
      await unblockFreed(deps, state);
      if (!isRecent(deps.clock, state.sweptAt, REST_MAX_MS)) await sweep(deps, state);
      const lanes = await readLanes(deps);
      noteUnserved(deps, state, lanes);
      const open = await dropHeld(deps, lanes);
      const dueAt = await takeTurns(deps, { state, replicas, wake }, open);
      state.dueAt = Math.min(dueAt, deps.clock.now() + REST_MAX_MS);
      if (lanes.length === 0) return ended > 0 ? ended : NOTHING_DUE;
      return { dueAt: state.dueAt };
    },
    freed: (tokenId) => {
      state.freed.add(tokenId);
    },
    lateMs: () => (deps.queue.lanes.size === 0 ? 0 : Math.max(0, deps.clock.now() - state.dueAt)),
    unserved: () => state.unserved.size,
  };
}

/** Without waiting tasks the worker is not woken, and it only polls for tasks of other processes. */
export function startQueue(deps: Deps, replicas: () => number): QueueWorker {
  const taker = turnTaker(deps, replicas, () => worker.wake());
  let isStopped = false;
  const worker = startWorker({
    name: 'queue',
    clock: deps.clock,
    log: deps.log,
    idleMs: IDLE_MS,
    pass: () => taker.pass(),
  });
  return {
    wake: (tokenId) => {
      if (deps.queue.lanes.size === 0) return;
      if (tokenId !== undefined) taker.freed(tokenId);
      worker.wake();
    },
    lateMs: () => (isStopped ? 0 : taker.lateMs()),
    unserved: () => taker.unserved(),
    stop: () => {
      isStopped = true;
      return worker.stop();
    },
  };
}

/** Fails the tasks that have waited too long. */
async function endExpired(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  const expired = await deps.store.listExpired(now, EXPIRED_MAX);
  for (const { task, lane } of expired)
    if (await endWaiting(deps, task, { state: 'failed', at: now, failure: QUEUE_TIMEOUT, causedBy: 'us' }))
      deps.count.expired(readLane(lane).class);
  return expired.length;
}

async function unblockFreed({ store }: Deps, { freed }: TurnState): Promise<void> {
  const tokens = [...freed];
  freed.clear();
  for (const tokenId of tokens) await store.unblock(tokenId);
}

/**
 * Cleans up after a process that died, ends expired weights, and tries tokens again after tasks ended in other
 * processes.
 */
async function sweep({ store, clock }: Deps, state: TurnState): Promise<void> {
  await store.removeOldPlaces(OLD_PLACES_MAX);
  await store.endOldWeights(clock.now(), OLD_WEIGHTS_MAX);
  const blocked = await store.listBlocked(state.triedAgain, UNBLOCKED_MAX);
  for (const tokenId of blocked) await store.unblock(tokenId);
  state.triedAgain = blocked.length === UNBLOCKED_MAX ? (blocked.at(-1) ?? '') : '';
  await forgetIdleFlows({ store, clock }, state);
  state.sweptAt = clock.now();
}

/** If there are more than it removes at once, the next sweep goes on. */
async function forgetIdleFlows({ store, clock }: Pick<Deps, 'store' | 'clock'>, state: TurnState): Promise<void> {
  if (isRecent(clock, state.forgotAt, IDLE_FLOWS_EVERY_MS)) return;
  const removed = await store.removeIdleFlows(IDLE_FLOWS_MAX);
  if (removed < IDLE_FLOWS_MAX) state.forgotAt = clock.now();
}

async function readLanes({ store, queue }: Deps): Promise<readonly string[]> {
  const lanes = await store.listLanes();
  queue.lanes.replace(lanes);
  return lanes;
}

/** The lanes, without the lanes of models that an operator holds. */
async function dropHeld({ store }: Deps, lanes: readonly string[]): Promise<readonly string[]> {
  if (lanes.length === 0) return lanes;
  const held = new Set(await store.listHeldModels());
  return held.size === 0 ? lanes : lanes.filter((lane) => !held.has(readLane(lane).model));
}

/** Logs each lane once that no channel serves. Its tasks wait until a channel of the configuration serves it again. */
function noteUnserved(deps: Deps, state: TurnState, lanes: readonly string[]): void {
  const unserved = lanes.filter((lane) => listLaneChannels(deps, lane).length === 0);
  for (const lane of unserved)
    if (!state.unserved.has(lane)) deps.log.warn({ lane }, 'tasks wait in a lane that no channel serves');
  state.unserved = new Set(unserved);
}

interface Turns {
  readonly state: TurnState;
  readonly replicas: () => number;
  readonly wake: () => void;
}

/**
 * Gives the models a turn after the other, as long as one of them takes it. Returns the time at which a channel has
 * room again.
 */
async function takeTurns(deps: Deps, turns: Turns, lanes: readonly string[]): Promise<number> {
  const { state } = turns;
  let dueAt = Infinity;
  let open = groupByModel(lanes);
  while (open.length > 0 && state.running.size < PARALLEL_MAX) {
    const taken: LaneGroup[] = [];
    for (const group of open) {
      if (state.running.size >= PARALLEL_MAX) break;
      const next = await takeGroupTurn(deps, turns, group);
      dueAt = Math.min(dueAt, next.dueAt);
      if (next.left !== undefined) taken.push(next.left);
    }
    open = taken;
  }
  return dueAt;
}

/** The lanes of a model, which share most of their channels. */
interface LaneGroup {
  readonly key: string;
  readonly lanes: readonly string[];
}

function groupByModel(lanes: readonly string[]): readonly LaneGroup[] {
  const groups = new Map<string, string[]>();
  for (const name of lanes) {
    const { kind, model } = readLane(name);
    const key = `${kind} ${model}`;
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups].map(([key, names]) => ({ key, lanes: names }));
}

interface GroupTurn {
  /** The time at which a channel of a lane that took no turn has room again. */
  readonly dueAt: number;
  /** The lanes that may take another turn. Undefined if no lane took a turn. */
  readonly left: LaneGroup | undefined;
}

/**
 * Gives a turn to the first lane that takes it. A lane that does not take a turn now does not take one in the whole
 * pass.
 */
async function takeGroupTurn(deps: Deps, turns: Turns, { key, lanes }: LaneGroup): Promise<GroupTurn> {
  const { turns: counts } = turns.state;
  const count = counts.get(key) ?? 0;
  let dueAt = Infinity;
  const refused = new Set<string>();
  for (const lane of orderByClass(lanes, count)) {
    const next = await takeTurn(deps, turns, lane);
    if (next === 'taken') {
      counts.set(key, count + 1);
      return { dueAt, left: { key, lanes: lanes.filter((one) => !refused.has(one)) } };
    }
    dueAt = Math.min(dueAt, next);
    refused.add(lane);
  }
  return { dueAt, left: undefined };
}

/**
 * Submits the next task of a lane on the first of its channels that has room, or returns when a channel may have room.
 */
async function takeTurn(deps: Deps, turns: Turns, lane: string): Promise<'taken' | number> {
  let dueAt = Infinity;
  for (const runtime of listLaneChannels(deps, lane)) {
    const roomAt = await findRoom(deps, turns, runtime);
    if (roomAt > deps.clock.now()) {
      dueAt = Math.min(dueAt, roomAt);
      continue;
    }
    const claim = await claimOn(deps, lane, runtime);
    deps.count.claimed(claim, deps.clock.now());
    if (claim.outcome === 'claimed') {
      deps.queue.rates.record(lane);
      pace(deps, turns, runtime);
      startSubmission(deps, turns, claim, runtime);
      return 'taken';
    }
    runtime.circuit.undecided();
    if (claim.outcome === 'empty' || claim.scope === TOTAL_SCOPE) break;
  }
  return dueAt;
}

/** The time at which the channel may have room. A past one: now, and one of its submissions is taken. */
async function findRoom(deps: Deps, { state }: Turns, runtime: ChannelRuntime): Promise<number> {
  const now = deps.clock.now();
  const { id, inFlightMax } = runtime.channel.settings;
  const heldUntil = state.heldOff.get(id) ?? 0;
  if (heldUntil > now) return heldUntil;
  const obstacle = findObstacle(runtime);
  if (obstacle?.why === 'limit') runtime.creates.refused(WAITING_TASKS);
  if (obstacle !== undefined) return obstacle.why === 'limit' ? now + obstacle.retryAfterMs : Infinity;
  // The end of one of its tasks wakes this worker.
  if ((await deps.store.inFlight(channelScope(id))) >= inFlightMax) return Infinity;
  const waitMs = await runtime.creates.admit();
  return waitMs > 0 ? now + waitMs : now;
}

function claimOn({ store, processId, clock }: Deps, lane: string, { channel }: ChannelRuntime): Promise<Claim> {
  const { id, inFlightMax } = channel.settings;
  return store.claim(lane, { channel: id, inFlightMax }, { owner: processId, at: clock.now() });
}

/** Leaves equal pauses within the minute, so that no channel takes all waiting tasks in a moment and then idles. */
function pace({ clock }: Deps, { state, replicas }: Turns, runtime: ChannelRuntime): void {
  const { id } = runtime.channel.settings;
  const apartMs = Math.min(runtime.creates.paceMs(), computeLongestPace(runtime)) * replicas();
  const now = clock.now();
  const planned = state.heldOff.get(id) ?? 0;
  // a submission that is a little late does not delay the next ones
  state.heldOff.set(id, (now - planned < LATE_MS_MAX ? planned : now) + apartMs);
}

function holdOff({ clock }: Deps, state: TurnState, channel: string, { accountId, isUnreachable }: RefusedTurn): void {
  const inRow = state.refusals.get(channel) ?? newRefusalsInRow(HELD_OFF);
  state.refusals.set(channel, inRow);
  const holdOffMs = inRow.add(accountId, isUnreachable);
  state.heldOff.set(channel, Math.max(state.heldOff.get(channel) ?? 0, clock.now() + holdOffMs));
}

interface RefusedTurn {
  readonly accountId: string;
  readonly isUnreachable: boolean;
}

function startSubmission(deps: Deps, { state, wake }: Turns, claimed: ClaimedTask, runtime: ChannelRuntime): void {
  const { id: taskId, accountId } = claimed.task;
  const { id: channel } = runtime.channel.settings;
  const submit = async (): Promise<void> => {
    try {
      let isAtFault = false;
      await submitClaimed(deps, claimed, runtime, ({ fault, isUnreachable = false }) => {
        isAtFault = fault === 'channel' || fault === 'credential';
        if (isAtFault) holdOff(deps, state, channel, { accountId, isUnreachable });
      });
      if (!isAtFault) state.refusals.delete(channel);
    } catch (error) {
      deps.log.error({ taskId, channel, err: error }, 'the submission of a task from the queue failed');
    } finally {
      state.running.delete(taskId);
      wake();
    }
  };
  state.running.add(taskId);
  void submit();
}
