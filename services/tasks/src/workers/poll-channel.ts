import type { Channel, PollResult } from '../channels/channel.ts';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { longestInterval } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import type { Deps } from '../operations/deps.ts';
import { postponePoll } from '../operations/polls/postpone-poll.ts';

/** Polls of one channel that may run at once. */
const PARALLEL_MAX = 64;
/** Tasks of one channel in work, including those whose poll has ended and whose result is being fetched. */
const IN_WORK_MAX = 512;
/** A poll and its consequences, including the fetch of a result, end within this time. */
const LEASE_MS = 15 * 60_000;
const PULLED_IN_MAX = 1000;

export interface ChannelPoller {
  /** Leases due tasks, as many as may run at once, and starts their polls. Returns how many it leased. */
  pass(channelId: string): Promise<number>;
  /** Resolves when all started work has ended. */
  idle(): Promise<void>;
}

interface PollerState {
  /** The work of each leased task: its poll and the consequences. */
  readonly running: Map<string, Promise<void>>;
  /** How many of them are polling the upstream now. */
  polling: number;
  /** Resolves when the next of these polls ends. */
  freed: PromiseWithResolvers<undefined>;
  /** Whether this process may hold leases that it does not know, because a read or a write failed. */
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
      const current = runtime();
      const free = Math.min(PARALLEL_MAX - state.polling, IN_WORK_MAX - state.running.size);
      if (current === undefined) return 0;
      if (free <= 0) {
        await Promise.race([state.freed.promise, ...state.running.values()]);
        return 1;
      }
      await correctClock(channelId);
      if (state.hasUnknownLeases) await dropUnknownLeases(deps, state, channelId);
      const limit = Math.min(free, current.polls.left());
      return limit === 0 ? 0 : startPolls(deps, current, state, limit);
    },
    idle: async () => {
      await Promise.all(state.running.values());
    },
  };
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
  for (const task of due) {
    const running = state.running.get(task.id);
    if (running !== undefined) {
      dropLeaseAfter(state, running);
      continue;
    }
    runtime.polls.take();
    const work = pollTask(deps, runtime, state, task).then((written) => {
      state.running.delete(task.id);
      if (!written) state.hasUnknownLeases = true;
    });
    state.running.set(task.id, work);
  }
  return due.length;
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
async function pollTask(deps: Deps, { channel }: ChannelRuntime, state: PollerState, task: Task): Promise<boolean> {
  try {
    const polled = await pollOnce(channel, state, task);
    deps.count.poll(channel.settings.id, polled.found ? polled.report.phase : 'error');
    if (polled.found) await applyReport(deps, task, polled.report);
    else if (polled.gone)
      await postponePoll(deps, task, 'the upstream does not know this task', 'unknown_upstream_task');
    else await postponePoll(deps, task, polled.error);
    return true;
  } catch (error) {
    deps.log.error({ taskId: task.id, err: error }, 'a poll of an upstream failed');
    return postponePoll(deps, task, 'internal error').then(
      () => true,
      () => false,
    );
  }
}

async function pollOnce(channel: Channel, state: PollerState, task: Task): Promise<PollResult> {
  state.polling += 1;
  try {
    return await channel.poll(task.mapping?.upstreamId ?? '', new AbortController().signal);
  } finally {
    state.polling -= 1;
    state.freed.resolve(undefined);
    state.freed = Promise.withResolvers();
  }
}

/** Ends the leases of tasks that this process is not working on, so they are due again at once. */
async function dropUnknownLeases({ store, processId }: Deps, state: PollerState, channelId: string): Promise<void> {
  state.hasUnknownLeases = false;
  try {
    for (const taskId of await store.leasedBy(channelId, processId))
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
