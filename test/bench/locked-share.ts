import { setTimeout as wait } from 'node:timers/promises';
import type { Sql } from '@reelgate/platform/sql/sql';

const SAMPLE_MS = 50;
const WAITING = `SELECT COUNT(*) FILTER (WHERE wait_event_type = 'Lock') AS locked, COUNT(*) AS busy
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`;

/** The share of the busy connections of a database that wait for locks, sampled until the signal is aborted. */
export async function lockedShare(database: Sql, signal: AbortSignal): Promise<number> {
  let [locked, busy] = [0, 0];
  while (!signal.aborted) {
    const [row] = await database.read<{ locked: number; busy: number }>(WAITING);
    locked += row!.locked;
    busy += row!.busy;
    await wait(SAMPLE_MS);
  }
  return locked / Math.max(1, busy);
}
