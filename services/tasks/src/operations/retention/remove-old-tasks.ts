import type { Deps } from '../deps.ts';

const TASKS_MAX = 200;
const KEYS_MAX = 1000;

/**
 * One pass that removes expired idempotency keys, and finished and settled tasks that are older than the retention
 * time, with their history. Each pass handles one small batch, so it never delays creates.
 */
export async function removeOldTasks({ store, clock, log }: Deps, retentionMs: number): Promise<number> {
  const now = clock.now();
  await store.removeKeys(now, KEYS_MAX);
  const removed = await store.removeFinished({ before: now - retentionMs, now, limit: TASKS_MAX });
  if (removed > 0) log.info({ removed }, 'old tasks were removed');
  // Zero makes the worker wait before the next batch, however much is left.
  return 0;
}
