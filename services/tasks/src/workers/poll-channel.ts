import type { Berth } from '../channels/fleet.ts';
import { longestInterval } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import { applyReport } from '../operations/apply-report.ts';
import type { Deps } from '../operations/deps.ts';
import { postpone } from '../operations/postpone.ts';

const PARALLEL_MAX = 64;
/** A look and all that follows it, the fetch of a result included, ends within this. */
const LEASE_MS = 15 * 60_000;
const PULLED_IN_MAX = 1000;

export interface ChannelPoller {
  /** Takes what is due, as much as may run at once, and lets it run; gives how many it took. */
  pass(channelId: string): Promise<number>;
  /** Resolves when everything taken has ended. */
  idle(): Promise<void>;
}

/** Looks that run, by their task, and tasks whose look ended while nothing could be written. */
interface Hand {
  readonly running: Map<string, Promise<void>>;
  readonly stranded: Set<string>;
}

/** The looks at one channel: a slow one delays no other. */
export function channelPoller(deps: Deps, berth: () => Berth | undefined): ChannelPoller {
  const hand: Hand = { running: new Map(), stranded: new Set() };
  const mendClock = clockMender(deps);
  return {
    pass: async (channelId) => {
      const at = berth();
      const free = PARALLEL_MAX - hand.running.size;
      if (at === undefined) return 0;
      if (free <= 0) {
        await Promise.race(hand.running.values());
        return 1;
      }
      await mendClock(channelId);
      await letGo(deps, hand);
      const limit = Math.min(free, at.polls.left());
      return limit === 0 ? 0 : take(deps, at, hand, limit);
    },
    idle: async () => {
      await Promise.all(hand.running.values());
    },
  };
}

async function take(deps: Deps, berth: Berth, { running, stranded }: Hand, limit: number): Promise<number> {
  const now = deps.clock.now();
  const due = await deps.store.claimDue(berth.channel.settings.id, { now, leaseUntil: now + LEASE_MS, limit, owner: deps.processId });
  for (const task of due) {
    // A clock that was set forward ends the leases of looks that run.
    if (running.has(task.id)) continue;
    berth.polls.take();
    const work = lookAt(deps, berth, task).then((written) => {
      running.delete(task.id);
      if (!written) stranded.add(task.id);
    });
    running.set(task.id, work);
  }
  return due.length;
}

/** Says whether what came of it could be written. */
async function lookAt(deps: Deps, { channel }: Berth, task: Task): Promise<boolean> {
  try {
    const look = await channel.look(task.mapping?.upstreamId ?? '', new AbortController().signal);
    deps.count.poll(channel.settings.id, look.found ? look.report.phase : 'error');
    if (look.found) await applyReport(deps, task, look.report);
    else if (look.gone) await postpone(deps, task, 'the upstream says that it does not know this task', 'unknown_upstream_task');
    else await postpone(deps, task, look.error);
    return true;
  } catch (error) {
    deps.log.error({ taskId: task.id, err: error }, 'a look at the upstream failed');
    return postpone(deps, task, 'a fault of the service').then(() => true, () => false);
  }
}

/** Tasks whose look could not be written are due again as soon as the database takes it. */
async function letGo({ store, processId }: Deps, { stranded, running }: Hand): Promise<void> {
  for (const taskId of stranded) {
    if (!running.has(taskId)) await store.dropLease(taskId, processId);
    stranded.delete(taskId);
  }
}

/** At the start, and whenever the clock was set back, what then is due in hours is made due at once; the channel's rate spreads it. */
function clockMender({ store, clock, pollPlan }: Deps): (channelId: string) => Promise<void> {
  let latest = Number.POSITIVE_INFINITY;
  return async (channelId) => {
    const now = clock.now();
    if (now >= latest) {
      latest = now;
      return;
    }
    const pulled = await store.pullIn(channelId, { beyond: now + longestInterval(pollPlan), to: now, limit: PULLED_IN_MAX });
    if (pulled < PULLED_IN_MAX) latest = now;
  };
}
