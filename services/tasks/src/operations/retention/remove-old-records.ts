import { NOTHING_DUE } from '@reelgate/platform/lifecycle/worker';
import type { PassResult } from '@reelgate/platform/lifecycle/worker';
import type { BatchDeps } from '../batches/batch-deps.ts';
import type { JobDeps } from '../jobs/job-deps.ts';
import type { Clock } from '@reelgate/platform/clock';
import type { ActStore, CallStore, FaultStore, HandOverStore, MinuteStore } from '../../store/operator-store.ts';
import type { Log } from '@reelgate/platform/log';
import type { WebhookRetentionStore } from '../../store/webhook-store.ts';
import type { WebhookLimits } from '../webhooks/webhook-deps.ts';
import type { Deps } from '../deps.ts';

const TASKS_MAX = 200;
const KEYS_MAX = 1000;
const JOBS_MAX = 200;
const EVENTS_MAX = 500;
const LINES_MAX = 500;
/** The steps in which a pass removes lines, of which a small batch takes two. */
const STEPS_MAX = 32;
const COUNTS_MAX = 2000;
const HOUR_MS = 3_600_000;
const ACTS_KEPT_MS = 400 * 24 * HOUR_MS;
const CALLS_KEPT_MS = 2 * 60_000;
const MINUTES_KEPT_MS = 25 * HOUR_MS;

/**
 * One pass that removes expired idempotency keys, and finished and settled tasks that are older than the retention
 * time, with their history. Each pass handles one small batch, so it never delays creates.
 */
export async function removeOldTasks({ store, clock, log }: Deps, retentionMs: number): Promise<PassResult> {
  const now = clock.now();
  const keys = await store.removeKeys(now, KEYS_MAX);
  const removed = await store.removeFinished({ before: now - retentionMs, now, limit: TASKS_MAX });
  if (removed > 0) log.info({ removed }, 'old tasks were removed');
  return restAfter(keys + removed);
}

/**
 * Runs one pass that erases the work that clients have deleted. The next pass comes after the idle time, whatever this
 * one did.
 */
export async function eraseRemoved({ store }: Deps): Promise<PassResult> {
  await store.eraseRemoved();
  return 0;
}

/**
 * One pass that removes the requests of ended jobs, and ended jobs that are older than the retention time. Objects are
 * removed before the rows that name them, so no object is left behind. Each pass handles one small batch.
 */
export async function removeOldJobs({ jobs, media, clock, limits, log }: JobDeps): Promise<PassResult> {
  const spent = await jobs.spentBodies(JOBS_MAX);
  if (spent.length > 0) await media.removePrivate(spent.map(({ object }) => object));
  await jobs.forgetBodies(spent.map(({ jobId }) => jobId));

  const now = clock.now();
  const old = await jobs.oldJobs({ before: now - limits.retentionMs, now, limit: JOBS_MAX });
  const objects = old.flatMap((job) => job.objects);
  if (objects.length > 0) await media.removePrivate(objects);
  await jobs.removeJobs(old.map(({ jobId }) => jobId));
  if (old.length > 0) log.info({ removed: old.length }, 'old jobs were removed');
  return restAfter(spent.length + old.length);
}

/** One pass that removes lines of batches that ended before the retention time, and then the batches. */
export async function removeOldBatches({ batches, media, clock, limits, log }: BatchDeps): Promise<PassResult> {
  let ended = 0;
  // many small batches of an account may end at one moment, and count to its open ones until they are without lines
  for (let step = 0; step < STEPS_MAX && ended < LINES_MAX; step += 1) {
    const changed = await batches.removeEndedLines(LINES_MAX - ended, (objects) => media.removePrivate(objects));
    if (changed === 0) break;
    ended += changed;
  }
  if (ended > 0) log.debug({ ended }, 'lines of batches that have ended were removed');
  const removed = await batches.removeOldBatches({ before: clock.now() - limits.retentionMs, limit: LINES_MAX });
  if (removed > 0) log.info({ removed }, 'lines of old batches were removed');
  return restAfter(ended + removed);
}

export interface WebhookRetentionDeps {
  readonly webhooks: WebhookRetentionStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: WebhookLimits;
}

/** One pass that removes events and ended deliveries that are older than the retention time, in one small batch. */
export async function removeOldWebhooks({ webhooks, clock, log, limits }: WebhookRetentionDeps): Promise<PassResult> {
  const removed = await webhooks.removeOldWebhooks({ before: clock.now() - limits.retentionMs, limit: EVENTS_MAX });
  if (removed > 0) log.info({ removed }, 'old events and deliveries were removed');
  return restAfter(removed);
}

/** However much is left, the next batch waits for the idle time of the worker. A pass without any work rests longer. */
function restAfter(removed: number): PassResult {
  return removed > 0 ? 0 : NOTHING_DUE;
}

/**
 * Runs one pass that removes acts of operators and service events after 400 days, counts of minutes and faults after 25
 * hours, and calls of channels after two minutes, in small batches. Returns how many were removed if there may be more.
 */
export async function removeOldCounts(
  operators: ActStore & CallStore & MinuteStore & FaultStore & HandOverStore,
  clock: Clock,
): Promise<number> {
  const now = clock.now();
  const acts = await operators.removeActs(now - ACTS_KEPT_MS, COUNTS_MAX);
  const minutes = await operators.removeMinutes(now - MINUTES_KEPT_MS, COUNTS_MAX);
  const faults = await operators.removeFaults(now - MINUTES_KEPT_MS, COUNTS_MAX);
  const events = await operators.removeServiceEvents(now - ACTS_KEPT_MS, COUNTS_MAX);
  await operators.removeOldCalls(now - CALLS_KEPT_MS);
  return Math.max(acts, minutes, faults, events) === COUNTS_MAX ? COUNTS_MAX : 0;
}
