import { DAY_MS, floorToHour } from '../domain/usage.ts';
import type { BillingDeps } from './deps.ts';
import { removeExpiredSessions } from './sessions/end-sessions.ts';

const ACTS_KEPT_MS = 400 * DAY_MS;
const MONEY_KEPT_MS = 92 * DAY_MS;
const BATCH_MAX = 2000;

/**
 * One pass that removes acts of operators after 400 days, in small batches, the hours of the money after 92 days, and
 * ended sessions that have expired. Returns how many acts were removed if there may be more.
 */
export async function removeOldRecords({
  acts,
  money,
  sessions,
  clock,
}: Pick<BillingDeps, 'acts' | 'money' | 'sessions' | 'clock'>): Promise<number> {
  const now = clock.now();
  await removeExpiredSessions({ sessions, clock });
  await money.removeBefore(floorToHour(now - MONEY_KEPT_MS));
  const removed = await acts.remove(now - ACTS_KEPT_MS, BATCH_MAX);
  return removed === BATCH_MAX ? BATCH_MAX : 0;
}
