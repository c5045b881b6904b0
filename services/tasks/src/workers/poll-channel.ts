import type { Channel, Look } from '../channels/channel.ts';
import type { Berth } from '../channels/channel-registry.ts';
import { longestInterval } from '../domain/poll-interval.ts';
import type { Task } from '../domain/task.ts';
import { applyReport } from '../operations/polls/apply-report.ts';
import type { Deps } from '../operations/deps.ts';
import { postpone } from '../operations/polls/postpone.ts';

const PARALLEL_MAX = 64;
/** With those whose look is over and whose result is being fetched, which keep nobody waiting until there are so many. */
const IN_HAND_MAX = 512;
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
interface Hand {
  readonly running: Map<string, Promise<void>>;
  /** How many of those look at the upstream now. */
  looking: number;
  /** Resolves when the next of them is over. */
  freed: PromiseWithResolvers<undefined>;
  unsure: boolean;
}

/** The looks at one channel: a slow one delays no other. */
export function channelPoller(deps: Deps, berth: () => Berth | undefined): ChannelPoller {
  const hand: Hand = { running: new Map(), looking: 0, freed: Promise.withResolvers(), unsure: false };
  const mendClock = clockMender(deps);
  return {
    pass: async (channelId) => {
      const at = berth();
      const free = Math.min(PARALLEL_MAX - hand.looking, IN_HAND_MAX - hand.running.size);
      if (at === undefined) return 0;
      if (free <= 0) {
        await Promise.race([hand.freed.promise, ...hand.running.values()]);
        return 1;
      }
      await mendClock(channelId);
      if (hand.unsure) await letGo(deps, hand, channelId);
      const limit = Math.min(free, at.polls.left());
      return limit === 0 ? 0 : take(deps, at, hand, limit);
    },
    idle: async () => {
      await Promise.all(hand.running.values());
    },
  };
}

async function take(deps: Deps, berth: Berth, hand: Hand, limit: number): Promise<number> {
  const now = deps.clock.now();
  const claiming = deps.store.claimDue(berth.channel.settings.id, {
    now,
    leaseUntil: now + LEASE_MS,
    limit,
    owner: deps.processId,
  });
  const due = await claiming.catch((error: unknown) => {
    // An answer that is lost leaves rows that were taken and that nobody knows of.
    hand.unsure = true;
    throw error;
  });
  for (const task of due) {
    const running = hand.running.get(task.id);
    if (running !== undefined) {
      takeLater(hand, running);
      continue;
    }
    berth.polls.take();
    const work = lookAt(deps, berth, hand, task).then((written) => {
      hand.running.delete(task.id);
      if (!written) hand.unsure = true;
    });
    hand.running.set(task.id, work);
  }
  return due.length;
}

/**
 * Its look has not ended here: a clock that was set forward ended the lease, or the look was written, and due again before that was heard.
 * The row is leased to this process all the same; where the look does not end the lease, nobody else would for a long time.
 */
function takeLater(hand: Hand, running: Promise<void>): void {
  void running.then(() => {
    hand.unsure = true;
  });
}

/** Says whether what came of it could be written. */
async function lookAt(deps: Deps, { channel }: Berth, hand: Hand, task: Task): Promise<boolean> {
  try {
    const look = await lookOnce(channel, hand, task);
    deps.count.poll(channel.settings.id, look.found ? look.report.phase : 'error');
    if (look.found) await applyReport(deps, task, look.report);
    else if (look.gone)
      await postpone(deps, task, 'the upstream says that it does not know this task', 'unknown_upstream_task');
    else await postpone(deps, task, look.error);
    return true;
  } catch (error) {
    deps.log.error({ taskId: task.id, err: error }, 'a look at the upstream failed');
    return postpone(deps, task, 'a fault of the service').then(
      () => true,
      () => false,
    );
  }
}

async function lookOnce(channel: Channel, hand: Hand, task: Task): Promise<Look> {
  hand.looking += 1;
  try {
    return await channel.look(task.mapping?.upstreamId ?? '', new AbortController().signal);
  } finally {
    hand.looking -= 1;
    hand.freed.resolve(undefined);
    hand.freed = Promise.withResolvers();
  }
}

/** What is leased to this process and not being looked at is due again as soon as the database takes it. */
async function letGo({ store, processId }: Deps, hand: Hand, channelId: string): Promise<void> {
  hand.unsure = false;
  try {
    for (const taskId of await store.leasedBy(channelId, processId))
      if (!hand.running.has(taskId)) await store.dropLease(taskId, processId);
  } catch (error) {
    hand.unsure = true;
    throw error;
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
    const pulled = await store.pullIn(channelId, {
      beyond: now + longestInterval(pollPlan),
      to: now,
      limit: PULLED_IN_MAX,
    });
    if (pulled < PULLED_IN_MAX) latest = now;
  };
}
