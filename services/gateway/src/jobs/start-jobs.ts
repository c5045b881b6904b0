import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { onJobEnded, onJobQueued } from '../events/subscriptions.ts';
import type { Jobs } from '../clients/jobs-client.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { TaskChanges } from '../operations/task-changes.ts';
import type { Relay } from '../relay/relay.ts';
import { restoreCall } from './restore-call.ts';
import { startJobPool } from './job-pool.ts';
import type { JobPool } from './job-pool.ts';
import { runJob } from './run-job.ts';

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
): Promise<JobPool> {
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
