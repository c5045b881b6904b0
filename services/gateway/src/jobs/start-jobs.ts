import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { onJobEnded, onJobQueued } from '../events/subscriptions.ts';
import { withDeadline } from '../clients/caller.ts';
import type { JobsClient } from '../clients/tasks-client.ts';
import { requireValue } from '../clients/wire-values.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { TaskChanges } from '../operations/task-changes.ts';
import type { Relay } from '../relay/relay.ts';
import { startLeasedPool } from '../operations/leased-pool.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';
import { runJob } from './run-job.ts';
import type { DueJob, RunJobDeps } from './run-job.ts';

/** The settings of the workers. */
export interface JobSettings {
  readonly jobs: { readonly workers: number; readonly drainMs: number };
  readonly limits: { readonly bodyBytes: number };
}

/** The parts that the workers need. */
export interface JobWorkParts {
  readonly relay: Relay;
  readonly jobs: JobsClient;
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
  const deps = { relay, jobs, media, clock, log, tracing, bytesMax: limits.bodyBytes };
  const pool = startJobPool(deps, { workers, drainMs, name: newId('gateway') });
  lifecycle.add('job pool', () => pool.stop());
  metrics.gauge('reelgate_job_workers_busy', 'Asynchronous calls that this process is making', [], (gauge) =>
    gauge.labels().set(pool.running()),
  );
  const queued = await onJobQueued(bus, () => pool.wake());
  lifecycle.add('job events', () => queued.stop());
  const ended = await onJobEnded(bus, changes);
  lifecycle.add('ended jobs', () => ended.stop());
  return pool;
}

export interface JobPoolOptions {
  /** Maximum number of calls that run at once. */
  readonly workers: number;
  /** Maximum wait of a stop for the calls that run, in milliseconds. */
  readonly drainMs: number;
  /** Identifies this process to an operator. */
  readonly name: string;
}

/**
 * Leases jobs, and aborts a call when its lease is lost or the drain time of a stop is over. The tasks service then
 * decides the fate of the job.
 */
export function startJobPool(deps: RunJobDeps, { workers, drainMs, name }: JobPoolOptions): LeasedPool {
  const { jobs, clock, log } = deps;
  return startLeasedPool<{ readonly job: DueJob; readonly keepMs: number }>({
    name: 'job pool',
    workers,
    drainMs,
    clock,
    log,
    lease: async (limit) => {
      const leased = await jobs.leaseJobs({ worker: name, limit }, withDeadline({}));
      const work = leased.jobs.map((job) => ({
        job: { ...job, lease: requireValue(job.lease), call: requireValue(job.call) },
        keepMs: Number(leased.keepMs),
      }));
      const next = work.length > 0 ? work.length : { dueAt: clock.now() + Number(leased.restMs) };
      return { work, leaseMs: Number(leased.leaseMs), next };
    },
    renew: async (running) => {
      const leases = running.map(({ job }) => job.lease);
      const lost = new Set((await jobs.renewJobLeases({ leases }, withDeadline({}))).lostJobIds);
      return running.filter(({ job }) => lost.has(job.lease.jobId));
    },
    run: ({ job, keepMs }, { lost, cutOff, stopping }) =>
      runJob(deps, job, { signal: AbortSignal.any([lost, cutOff]), stopping, keepMs }),
  });
}
