import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Jobs, LeasedJob } from '../clients/jobs-client.ts';
import type { RunOptions } from './run-job.ts';

const IDLE_MS = 1000;
/** A lease is renewed so often while it lasts. */
const RENEWALS = 3;
/** Until tasks has said how long its leases last. */
const LEASE_MS = 3000;

export interface JobPoolOptions {
  readonly jobs: Pick<Jobs, 'lease' | 'renew'>;
  readonly run: (job: LeasedJob, options: RunOptions) => Promise<void>;
  /** How many calls run at one time. */
  readonly workers: number;
  /** How long a stop waits for the calls that run. */
  readonly drainMs: number;
  /** Names this process for people. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JobPool {
  /** There may be something to do. */
  wake(): void;
  /**
   * Takes nothing more and begins nothing more: what was not begun is given back. What runs may end, for a while; then it is cut off, and
   * tasks decides over it.
   */
  stop(): Promise<void>;
  readonly running: () => number;
}

interface Running {
  readonly job: LeasedJob;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** Takes jobs as hands are free, keeps their leases while they run, and lets go of those that it has lost. */
export function startJobPool({ jobs, run, workers, drainMs, name, clock, log }: JobPoolOptions): JobPool {
  const running = new Map<string, Running>();
  const stopping = new AbortController();
  let leaseMs = LEASE_MS;

  const begin = (job: LeasedJob, keepMs: number): void => {
    const abort = new AbortController();
    const key = `${job.lease.lease} ${job.lease.jobId}`;
    const done = run(job, { signal: abort.signal, stopping: stopping.signal, keepMs }).finally(() => {
      running.delete(key);
      taker.wake();
    });
    running.set(key, { job, abort, done });
  };
  const taker = startWorker({
    name: 'job pool',
    clock,
    log,
    idleMs: IDLE_MS,
    pass: async () => {
      const free = workers - running.size;
      if (free <= 0) return 0;
      const taken = await jobs.lease(name, free);
      leaseMs = taken.leaseMs;
      for (const job of taken.jobs) begin(job, taken.keepMs);
      return taken.jobs.length;
    },
  });
  const keeper = startWorker({
    name: 'job leases',
    clock,
    log,
    idleMs: IDLE_MS,
    pass: async (signal) => {
      await clock.sleep(leaseMs / RENEWALS, signal);
      if (running.size === 0) return 1;
      const lost = new Set(await jobs.renew([...running.values()].map(({ job }) => job.lease)));
      for (const { job, abort } of running.values()) if (lost.has(job.lease.jobId)) abort.abort();
      return 1;
    },
  });
  return {
    wake: () => {
      taker.wake();
    },
    running: () => running.size,
    stop: async () => {
      stopping.abort();
      await taker.stop();
      await drain(running.values().toArray(), drainMs, clock);
      await keeper.stop();
    },
  };
}

/** Lets what runs end, for a while; what is cut off then is written down as such. */
async function drain(running: readonly Running[], ms: number, clock: Clock): Promise<void> {
  const over = new AbortController();
  const all = Promise.all(running.map(({ done }) => done));
  await Promise.race([all, clock.sleep(ms, over.signal)]);
  over.abort();
  for (const { abort } of running) abort.abort();
  await all;
}
