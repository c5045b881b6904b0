import { applyReport } from '../operations/apply-report.ts';
import type { Deps } from '../operations/deps.ts';
import { postpone } from '../operations/postpone.ts';
import { raiseAttention } from '../operations/raise-attention.ts';
import type { Berth } from '../channels/fleet.ts';
import type { Task } from '../domain/task.ts';

const PARALLEL_MAX = 64;
/** A look and all that follows it, the fetch of a result included, ends within this. */
const LEASE_MS = 15 * 60_000;
const GONE_TO_ATTENTION = 5;

export interface ChannelPoller {
  /** Takes what is due, as much as may run at once, and lets it run; gives how many it took. */
  pass(channelId: string): Promise<number>;
  /** Resolves when everything taken has ended. */
  idle(): Promise<void>;
}

/** The looks at one channel: a slow one delays no other. */
export function channelPoller(deps: Deps, berth: () => Berth | undefined): ChannelPoller {
  const running = new Set<Promise<void>>();
  return {
    pass: async (channelId) => {
      const now = deps.clock.now();
      const at = berth();
      const free = PARALLEL_MAX - running.size;
      if (at === undefined) return 0;
      if (free <= 0) {
        await Promise.race(running);
        return 1;
      }
      const limit = Math.min(free, at.polls.left());
      if (limit === 0) return 0;
      const due = await deps.store.claimDue(channelId, { now, leaseUntil: now + LEASE_MS, limit, owner: deps.processId });
      for (const task of due) {
        at.polls.take();
        const work = lookAt(deps, at, task);
        running.add(work);
        void work.finally(() => running.delete(work));
      }
      return due.length;
    },
    idle: async () => {
      await Promise.all(running);
    },
  };
}

async function lookAt(deps: Deps, { channel }: Berth, task: Task): Promise<void> {
  try {
    const look = await channel.look(task.mapping?.upstreamId ?? '', new AbortController().signal);
    deps.count.poll(channel.settings.id, look.found ? look.report.phase : 'error');
    if (look.found) {
      await applyReport(deps, task, look.report);
      return;
    }
    const errors = await postpone(deps, task, look.error);
    if (look.gone && errors >= GONE_TO_ATTENTION) await raiseAttention(deps, task, 'unknown_upstream_task', 'the upstream says that it does not know this task');
  } catch (error) {
    // The lease ends by itself, and then the task is looked at again.
    deps.log.error({ taskId: task.id, err: error }, 'a look at the upstream failed');
    await postpone(deps, task, 'a fault of the service').catch(() => undefined);
  }
}
