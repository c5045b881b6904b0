import type { Deps } from '../deps.ts';

const TASKS_MAX = 200;
const KEYS_MAX = 1000;

/**
 * One pass over what nobody needs any more: finished tasks whose money is settled, with all that was written of them, once they ended so
 * long ago; and idempotency keys that have expired. It takes a small batch, so that it never keeps creates waiting.
 */
export async function removeOld(
  { store, clock, log }: Pick<Deps, 'store' | 'clock' | 'log'>,
  retentionMs: number,
): Promise<number> {
  const now = clock.now();
  await store.removeKeys(now, KEYS_MAX);
  const removed = await store.removeFinished({ before: now - retentionMs, now, limit: TASKS_MAX });
  if (removed > 0) log.info({ removed }, 'old tasks were removed');
  // However much is left, the next batch waits for its turn.
  return 0;
}
