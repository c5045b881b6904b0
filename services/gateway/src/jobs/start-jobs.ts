import type { Clock } from '@reelgate/platform/clock';
import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { Log } from '@reelgate/platform/log';
import { onJobEnded, onJobQueued } from '../events/subscriptions.ts';
import type { Jobs, LeasedJob } from '../clients/jobs-client.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { TaskChanges } from '../operations/task-changes.ts';
import type { Relay } from '../relay/relay.ts';
import { restoreCall } from './restore-call.ts';
import { startLeasedPool } from '../operations/leased-pool.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';
import { runJob } from './run-job.ts';
import type { RunOptions } from './run-job.ts';

/** The settings of the workers. */
export interface JobSettings {
  readonly jobs: { readonly workers: number; readonly drainMs: number };
  readonly limits: { readonly bodyBytes: number };
}

/** The parts that the workers need. */
export interface JobWorkParts {
  readonly relay: Relay;
  readonly jobs: Jobs;
  readonly media: PrivateStore & ByteReader;
  readonly changes: TaskChanges;
}

/** Starts the workers that make the calls of the generic asynchronous route. */
export async function startJobs(
  { jobs: { workers, drainMs }, limits }: JobSettings,
  { clock, newId, log, metrics, tracing, bus }: Foundation,
  { relay, jobs, media, changes }: JobWorkParts,
  lifecycle: Lifecycle,
): Promise<LeasedPool> {
  const deps = { relay, jobs, media, restore: restoreCall, clock, log, tracing, bytesMax: limits.bodyBytes };
  const pool = startJobPool({
    jobs,
    run: (job, options) => runJob(deps, job, options),
    workers,
    drainMs,
    name: newId('gateway'),
    clock,
    log,
  });
  lifecycle.add('job pool', () => pool.stop());
  metrics.gauge('reelgate_job_workers_busy', 'Asynchronous calls that this process is making', [], (gauge) => {
    gauge.labels().set(pool.running());
  });
  const queued = await onJobQueued(bus, () => {
    pool.wake();
  });
  lifecycle.add('job events', () => queued.stop());
  const ended = await onJobEnded(bus, changes);
  lifecycle.add('ended jobs', () => ended.stop());
  return pool;
}

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

/**
 * Leases jobs, and aborts a call when its lease is lost or the drain time of a stop is over. The tasks service then
 * decides the fate of the job.
 */
export function startJobPool({ jobs, run, workers, drainMs, name, clock, log }: JobPoolOptions): LeasedPool {
  return startLeasedPool<LeasedJob & { readonly keepMs: number }>({
    name: 'job pool',
    workers,
    drainMs,
    clock,
    log,
    lease: async (limit) => {
      const { jobs: taken, leaseMs, keepMs, restMs } = await jobs.lease(name, limit);
      const next = taken.length > 0 ? taken.length : { dueAt: clock.now() + restMs };
      return { work: taken.map((job) => ({ ...job, keepMs })), leaseMs, next };
    },
    renew: async (running) => {
      const lost = new Set(await jobs.renew(running.map(({ lease }) => lease)));
      return running.filter(({ lease }) => lost.has(lease.jobId));
    },
    run: ({ keepMs, ...job }, { lost, cutOff, stopping }) =>
      run(job, { signal: AbortSignal.any([lost, cutOff]), stopping, keepMs }),
  });
}
