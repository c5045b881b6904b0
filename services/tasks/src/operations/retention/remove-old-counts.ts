import type { Clock } from '@reelgate/platform/clock';
import type { ActStore, MinuteStore } from '../../store/operator-store.ts';

const HOUR_MS = 3_600_000;
const ACTS_KEPT_MS = 400 * 24 * HOUR_MS;
const MINUTES_KEPT_MS = 25 * HOUR_MS;
const BATCH_MAX = 2000;

/**
 * One pass that removes acts of operators after 400 days and counts of minutes after 25 hours, in small batches. Returns
 * how many were removed if there may be more.
 */
export async function removeOldCounts(operators: ActStore & MinuteStore, clock: Clock): Promise<number> {
  const now = clock.now();
  const acts = await operators.removeActs(now - ACTS_KEPT_MS, BATCH_MAX);
  const minutes = await operators.removeMinutes(now - MINUTES_KEPT_MS, BATCH_MAX);
  return Math.max(acts, minutes) === BATCH_MAX ? BATCH_MAX : 0;
}
