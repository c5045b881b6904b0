import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Jobs, LeasedJob } from '../clients/jobs-client.ts';
import type { RunOptions } from './run-job.ts';

const IDLE_MS = 1000;
/** The number of renewals of a lease while it lasts. */
const RENEWALS = 3;
/** Used until tasks has reported how long its leases last. */
const LEASE_MS = 3000;

export interface JobPoolOptions {
  readonly jobs: Jobs;
  readonly run: (job: LeasedJob, options: RunOptions) => Promise<void>;
  /** Maximum number of calls that run at once. */
  readonly workers: number;
  /** Maximum wait of a stop for the calls that run, in milliseconds. */
  readonly drainMs: number;
  /** Identifies this process to an operator. */
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
}

export interface JobPool {
  /** Leases jobs at once, without waiting for the next interval. */
  wake(): void;
  /**
   * Leases and begins nothing more, waits `drainMs` for the running calls, at most until `over`, and then aborts them.
   * The tasks service then decides the fate of their jobs.
   */
  stop(over?: AbortSignal): Promise<void>;
  readonly running: () => number;
}

interface RunningJob {
  readonly job: LeasedJob;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** Leases jobs while permits are free, renews the leases of running jobs, and aborts a job whose lease is lost. */
export function startJobPool({ jobs, run, workers, drainMs, name, clock, log }: JobPoolOptions): JobPool {
  const running = new Map<string, RunningJob>();
  const permits = newSemaphore({ permits: workers, waitingMax: 0 });
  const stopping = new AbortController();
  let leaseMs = LEASE_MS;

  const begin = (job: LeasedJob, keepMs: number): void => {
    const abort = new AbortController();
    const key = `${job.lease.lease} ${job.lease.jobId}`;
    const done = run(job, { signal: abort.signal, stopping: stopping.signal, keepMs }).finally(() => {
      running.delete(key);
      permits.release();
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
      const free = workers - permits.inUse();
      if (free <= 0) return 0;
      const taken = await jobs.lease(name, free);
      leaseMs = taken.leaseMs;
      for (const job of taken.jobs) if (permits.tryAcquire()) begin(job, taken.keepMs);
      return taken.jobs.length > 0 ? taken.jobs.length : { dueAt: clock.now() + taken.restMs };
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
  const stop = async (over: AbortSignal | undefined): Promise<void> => {
    stopping.abort();
    await taker.stop();
    await drain({ running: running.values().toArray(), ms: drainMs, clock, over });
    await keeper.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    wake: () => {
      taker.wake();
    },
    running: () => permits.inUse(),
    stop: (over) => (stopped ??= stop(over)),
  };
}

interface DrainOptions {
  readonly running: readonly RunningJob[];
  readonly ms: number;
  readonly clock: Clock;
  readonly over: AbortSignal | undefined;
}

/** Waits for the running jobs, then aborts those that are left. */
async function drain({ running, ms, clock, over }: DrainOptions): Promise<void> {
  const ended = new AbortController();
  const all = Promise.all(running.map(({ done }) => done));
  const late = over === undefined ? ended.signal : AbortSignal.any([over, ended.signal]);
  await Promise.race([all, clock.sleep(ms, late)]);
  ended.abort();
  for (const { abort } of running) abort.abort();
  await all;
}
