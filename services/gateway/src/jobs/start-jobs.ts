import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { GatewayConfig } from '../config.ts';
import { onJobEnded, onJobQueued } from '../events/subscriptions.ts';
import type { GatewayParts } from '../http/gateway-parts.ts';
import { restoreCall } from './restore-call.ts';
import { startJobPool } from './job-pool.ts';
import type { JobPool } from './job-pool.ts';
import { runJob } from './run-job.ts';

/** Starts the workers that make the calls of the generic asynchronous route. */
export async function startJobs(
  { jobs: { workers, drainMs }, limits }: GatewayConfig,
  { clock, newId, log, metrics, tracing, bus }: Foundation,
  { relay, jobs, media, changes }: GatewayParts,
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
