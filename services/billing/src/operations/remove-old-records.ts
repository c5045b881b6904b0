import type { ActStore } from '../store/acts/act-store.ts';
import type { MoneyStore } from '../store/money/money-store.ts';
import { DAY_MS, floorToHour } from '../domain/usage.ts';
import { removeExpiredSessions } from './sessions/end-sessions.ts';
import type { SessionDeps } from './sessions/end-sessions.ts';

const ACTS_KEPT_MS = 400 * DAY_MS;
const MONEY_KEPT_MS = 92 * DAY_MS;
const BATCH_MAX = 2000;

export interface RecordDeps extends SessionDeps {
  readonly acts: ActStore;
  readonly money: MoneyStore;
}

/**
 * One pass that removes acts of operators after 400 days, in small batches, the hours of the money after 92 days, and
 * ended sessions that have expired. Returns how many acts were removed if there may be more.
 */
export async function removeOldRecords(deps: RecordDeps): Promise<number> {
  const { acts, money, clock } = deps;
  const now = clock.now();
  await removeExpiredSessions(deps);
  await money.removeBefore(floorToHour(now - MONEY_KEPT_MS));
  const removed = await acts.remove(now - ACTS_KEPT_MS, BATCH_MAX);
  return removed === BATCH_MAX ? BATCH_MAX : 0;
}
