import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { REST_MAX_MS } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { PollResult } from '../channels/channel.ts';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { longestInterval } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import { inTask, tracePoll } from '../operations/tracing/work-span.ts';
import type { Deps } from '../operations/deps.ts';
import { postponePoll } from '../operations/polls/postpone-poll.ts';
import { AHEAD_MS } from '../store/task-store.ts';

/** Calls of one channel that may run at once. Each polls one work, or several where the upstream reads several. */
const PARALLEL_MAX = 64;
/** Tasks of one channel in work, including tasks after their poll, while the result is being fetched. */
const IN_WORK_MAX = 512;
/**
 * Under load a claim waits until this many tasks can begin, or for `CLAIM_WAIT_MS`. Claims of one task each cost more
 * than the polls: each is a transaction, and passes over all tasks in work.
 */
const CLAIM_MIN = 16;
const CLAIM_WAIT_MS = 100;
/** A poll and its consequences, including the fetch of a result, end within this time. */
const LEASE_MS = 15 * 60_000;
const PULLED_IN_MAX = 1000;
const UNANSWERED: PollResult = { found: false, gone: false, error: 'the poll says nothing about this work' };
const UNKNOWN_TASK = 'the upstream does not know this task';

export interface ChannelPoller {
  /** Leases due tasks, as many as may run at once, and starts their polls. Returns how many it leased. */
  pass(channelId: string): Promise<PassResult>;
  /** Resolves when all started work has ended. */
  idle(): Promise<void>;
}

interface PollerState {
  /** The work of each leased task: its poll and the consequences. */
  readonly running: Map<string, Promise<void>>;
  /** The number of calls that are polling the upstream now. */
  polling: number;
  /** Resolves when the next of these polls, or of the works, ends. */
  freed: PromiseWithResolvers<undefined>;
  /** True if this process may hold leases that it does not know, because a read or a write failed. */
  hasUnknownLeases: boolean;
}

/** Polls the tasks of one channel. A slow poll delays no other. */
export function channelPoller(deps: Deps, runtime: () => ChannelRuntime | undefined): ChannelPoller {
  const state: PollerState = {
    running: new Map(),
    polling: 0,
    freed: Promise.withResolvers(),
    hasUnknownLeases: false,
  };
  const correctClock = clockCorrection(deps);
  return {
    pass: async (channelId) => {
      await waitUntilWorthwhile(deps.clock, state);
      const current = runtime();
      if (current === undefined) return 0;
      const perCall = current.channel.pollManyMax;
      const free = countFree(state, perCall);
      if (free <= 0) return 1;
      await correctClock(channelId);
      if (state.hasUnknownLeases) await dropUnknownLeases(deps, state, channelId);
      const dueAt = await findNextDue(deps, channelId);
      // work that ends meanwhile can become due at any time, so only an idle poller rests
      if (dueAt > deps.clock.now()) return state.running.size === 0 ? { dueAt } : 0;
      const waitMs = current.polls.waitMs();
      if (waitMs > 0) return { dueAt: deps.clock.now() + Math.min(waitMs, REST_MAX_MS) };
      if (!deps.isKnownAlive()) return 0;
      return startPolls(deps, current, state, Math.min(free, current.polls.left() * perCall));
    },
    idle: async () => {
      await Promise.all(state.running.values());
    },
  };
}

/**
 * The moment at which a task is due, if the poller is not woken before and no poll is running. A task that any process
 * accepts in the meantime is due later. A process that sets a task due at once wakes its own poller.
 */
async function findNextDue({ store, clock, pollPlan }: Deps, channelId: string): Promise<number> {
  const now = clock.now();
  const dueAt = (await store.findNextDue(channelId, now)) ?? Infinity;
  return Math.min(dueAt, now + pollPlan.firstMs);
}

/** Returns the number of tasks that can begin now. */
function countFree({ polling, running }: PollerState, perCall = 1): number {
  return Math.min((PARALLEL_MAX - polling) * perCall, IN_WORK_MAX - running.size);
}

/** Waits until a claim is worth its transaction, for a bounded time. */
async function waitUntilWorthwhile(clock: Clock, state: PollerState): Promise<void> {
  if (countFree(state) >= CLAIM_MIN) return;
  const ended = new AbortController();
  let isOver = false;
  void clock.sleep(CLAIM_WAIT_MS, ended.signal).then(() => {
    isOver = true;
    signalFreed(state);
  });
  while (countFree(state) < CLAIM_MIN && !isOver) await state.freed.promise;
  ended.abort(NOT_AWAITED);
}

function signalFreed(state: PollerState): void {
  state.freed.resolve(undefined);
  state.freed = Promise.withResolvers();
}

async function startPolls(deps: Deps, runtime: ChannelRuntime, state: PollerState, limit: number): Promise<number> {
  const now = deps.clock.now();
  const claiming = deps.store.claimDue(runtime.channel.settings.id, {
    now,
    leaseUntil: now + LEASE_MS,
    limit,
    owner: deps.processId,
  });
  const due = await claiming.catch((error: unknown) => {
    // If the answer of the database is lost, it may have leased rows to this process.
    state.hasUnknownLeases = true;
    throw error;
  });
  const free = due.filter(({ id }) => {
    const running = state.running.get(id);
    if (running !== undefined) dropLeaseAfter(state, running);
    return running === undefined;
  });
  const { pollManyMax } = runtime.channel;
  for (let at = 0; at < free.length; at += pollManyMax)
    startCall(deps, runtime, state, free.slice(at, at + pollManyMax));
  return due.length;
}

/** Polls the works of some tasks with one call. The consequences of each are its own. */
function startCall(deps: Deps, runtime: ChannelRuntime, state: PollerState, tasks: readonly Task[]): void {
  runtime.polls.take();
  const results = pollWorks(runtime, state, tasks);
  for (const task of tasks) {
    const polled = inTask(task, () => pollTask(deps, runtime, task, results));
    const work = polled.then((written) => {
      state.running.delete(task.id);
      signalFreed(state);
      if (!written) state.hasUnknownLeases = true;
    });
    state.running.set(task.id, work);
  }
}

/**
 * The task was leased again although its work here has not ended: a clock that was set forward ended the lease, or the
 * poll was written and the task became due again before this process knew. If that work does not end the new lease, no
 * process would poll the task for a long time, so the lease is checked afterwards.
 */
function dropLeaseAfter(state: PollerState, running: Promise<void>): void {
  void running.then(() => {
    state.hasUnknownLeases = true;
  });
}

/** Returns whether the outcome could be written. */
async function pollTask(
  deps: Deps,
  { channel, askedWaitMs }: ChannelRuntime,
  leased: Task,
  results: Promise<ReadonlyMap<string, PollResult>>,
): Promise<boolean> {
  const { id } = channel.settings;
  const startedAt = deps.clock.now();
  try {
    const polled = (await results).get(readUpstreamId(leased)) ?? UNANSWERED;
    deps.count.poll(id, polled.found ? polled.report.phase : 'error', {
      lateMs: computeLatenessMs(leased, startedAt),
      taskId: leased.id,
      error: polled.found ? undefined : polled.gone ? UNKNOWN_TASK : polled.error,
    });
    const task = tracePoll(deps, leased, { channel: id, polled, startedAt });
    if (polled.found) await applyReport(deps, task, polled.report);
    else if (polled.gone) await postponePoll(deps, task, { error: UNKNOWN_TASK, doubt: 'unknown_upstream_task' });
    else await postponePoll(deps, task, { error: polled.error, channelWaitMs: askedWaitMs('reads') });
    return true;
  } catch (error) {
    deps.log.error({ taskId: leased.id, err: error }, 'a poll of an upstream failed');
    return postponePoll(deps, leased, { error: 'internal error' }).then(
      () => true,
      () => false,
    );
  }
}

function computeLatenessMs({ nextPollAt }: Task, startedAt: number): number {
  const late = startedAt - (nextPollAt ?? startedAt);
  return late >= AHEAD_MS ? late - AHEAD_MS : late;
}

async function pollWorks(
  { channel }: ChannelRuntime,
  state: PollerState,
  tasks: readonly Task[],
): Promise<ReadonlyMap<string, PollResult>> {
  state.polling += 1;
  const { signal } = new AbortController();
  const upstreamIds = tasks.map(readUpstreamId);
  try {
    const [only] = upstreamIds;
    return only !== undefined && upstreamIds.length === 1
      ? new Map([[only, await channel.poll(only, signal)]])
      : await channel.pollMany(upstreamIds, signal);
  } finally {
    state.polling -= 1;
    signalFreed(state);
  }
}

function readUpstreamId({ mapping }: Task): string {
  return mapping?.upstreamId ?? '';
}

/** Ends the leases of tasks that this process is not working on, so they are due again at once. */
async function dropUnknownLeases({ store, processId }: Deps, state: PollerState, channelId: string): Promise<void> {
  state.hasUnknownLeases = false;
  try {
    for (const taskId of await store.listLeasedIds(channelId, processId))
      if (!state.running.has(taskId)) await store.dropLease(taskId, processId);
  } catch (error) {
    state.hasUnknownLeases = true;
    throw error;
  }
}

/**
 * Corrects due times after the clock was set back, and at the start. Tasks that would be due hours later become due at
 * once; the rate limit of the channel spreads their polls.
 */
function clockCorrection({ store, clock, pollPlan }: Deps): (channelId: string) => Promise<void> {
  let latest = Number.POSITIVE_INFINITY;
  return async (channelId) => {
    const now = clock.now();
    if (now >= latest) {
      latest = now;
      return;
    }
    const pulled = await store.pullIn(channelId, {
      beyond: now + longestInterval(pollPlan),
      to: now,
      limit: PULLED_IN_MAX,
    });
    if (pulled < PULLED_IN_MAX) latest = now;
  };
}
