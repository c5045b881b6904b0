import type { Channel, PollResult } from '../channels/channel.ts';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { longestInterval } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import type { Deps } from '../operations/deps.ts';
import { postpone } from '../operations/polls/postpone.ts';

const PARALLEL_MAX = 64;
/** With those whose look is over and whose result is being fetched, which keep nobody waiting until there are so many. */
const UNFINISHED_MAX = 512;
/** A look and all that follows it, the fetch of a result included, ends within this. */
const LEASE_MS = 15 * 60_000;
const PULLED_IN_MAX = 1000;

export interface ChannelPoller {
  /** Takes what is due, as much as may run at once, and lets it run; gives how many it took. */
  pass(channelId: string): Promise<number>;
  /** Resolves when everything taken has ended. */
  idle(): Promise<void>;
}

/** Looks that run, with all that follows them, by their task; and whether more tasks may be leased to this process, for something could not be written or read. */
interface PollerState {
  readonly running: Map<string, Promise<void>>;
  /** How many of those look at the upstream now. */
  polling: number;
  /** Resolves when the next of them is over. */
  freed: PromiseWithResolvers<undefined>;
  unsure: boolean;
}

/** The looks at one channel: a slow one delays no other. */
export function channelPoller(deps: Deps, runtime: () => ChannelRuntime | undefined): ChannelPoller {
  const state: PollerState = { running: new Map(), polling: 0, freed: Promise.withResolvers(), unsure: false };
  const correctClock = clockCorrection(deps);
  return {
    pass: async (channelId) => {
      const at = runtime();
      const free = Math.min(PARALLEL_MAX - state.polling, UNFINISHED_MAX - state.running.size);
      if (at === undefined) return 0;
      if (free <= 0) {
        await Promise.race([state.freed.promise, ...state.running.values()]);
        return 1;
      }
      await correctClock(channelId);
      if (state.unsure) await letGo(deps, state, channelId);
      const limit = Math.min(free, at.polls.left());
      return limit === 0 ? 0 : take(deps, at, state, limit);
    },
    idle: async () => {
      await Promise.all(state.running.values());
    },
  };
}

async function take(deps: Deps, runtime: ChannelRuntime, state: PollerState, limit: number): Promise<number> {
  const now = deps.clock.now();
  const claiming = deps.store.claimDue(runtime.channel.settings.id, {
    now,
    leaseUntil: now + LEASE_MS,
    limit,
    owner: deps.processId,
  });
  const due = await claiming.catch((error: unknown) => {
    // An answer that is lost leaves rows that were taken and that nobody knows of.
    state.unsure = true;
    throw error;
  });
  for (const task of due) {
    const running = state.running.get(task.id);
    if (running !== undefined) {
      pollLater(state, running);
      continue;
    }
    runtime.polls.take();
    const work = pollTask(deps, runtime, state, task).then((written) => {
      state.running.delete(task.id);
      if (!written) state.unsure = true;
    });
    state.running.set(task.id, work);
  }
  return due.length;
}

/**
 * Its look has not ended here: a clock that was set forward ended the lease, or the look was written, and due again before that was heard.
 * The row is leased to this process all the same; where the look does not end the lease, nobody else would for a long time.
 */
function pollLater(state: PollerState, running: Promise<void>): void {
  void running.then(() => {
    state.unsure = true;
  });
}

/** Says whether what came of it could be written. */
async function pollTask(deps: Deps, { channel }: ChannelRuntime, state: PollerState, task: Task): Promise<boolean> {
  try {
    const polled = await pollOnce(channel, state, task);
    deps.count.poll(channel.settings.id, polled.found ? polled.report.phase : 'error');
    if (polled.found) await applyReport(deps, task, polled.report);
    else if (polled.gone)
      await postpone(deps, task, 'the upstream says that it does not know this task', 'unknown_upstream_task');
    else await postpone(deps, task, polled.error);
    return true;
  } catch (error) {
    deps.log.error({ taskId: task.id, err: error }, 'a look at the upstream failed');
    return postpone(deps, task, 'a fault of the service').then(
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

/** What is leased to this process and not being looked at is due again as soon as the database takes it. */
async function letGo({ store, processId }: Deps, state: PollerState, channelId: string): Promise<void> {
  state.unsure = false;
  try {
    for (const taskId of await store.leasedBy(channelId, processId))
      if (!state.running.has(taskId)) await store.dropLease(taskId, processId);
  } catch (error) {
    state.unsure = true;
    throw error;
  }
}

/** At the start, and whenever the clock was set back, what then is due in hours is made due at once; the channel's rate spreads it. */
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
