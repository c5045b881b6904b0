import { firstIdAt } from '@reelgate/platform/ids';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { optionalNumber, text } from './task-rows.ts';
import type { SelfCheckStore } from '../self-check-store.ts';

/** Beyond it, the number of waiting rows no longer grows. */
const COUNTED_MAX = 10_000;
const ATTEMPTS_MAX = 2000;

export function sqlSelfChecks(sql: Sql): SelfCheckStore {
  return {
    outbox: async () =>
      backlogIn(
        await sql.read(
          `SELECT COUNT(*) AS count, MIN(created_at) AS oldest
           FROM (SELECT created_at FROM outbox ORDER BY id LIMIT $1) staged`,
          [COUNTED_MAX],
        ),
      ),
    attemptsSince: async (since) =>
      (
        await sql.read(
          `SELECT channel, outcome, error FROM attempts WHERE task_id >= $1
           ORDER BY task_id DESC, number DESC LIMIT $2`,
          [firstIdAt('task', since), ATTEMPTS_MAX],
        )
      ).map((row) => ({
        channel: text(row['channel']),
        outcome: text(row['outcome']),
        error: text(row['error']),
      })),
  };
}

function backlogIn([row]: readonly SqlRow[]): Awaited<ReturnType<SelfCheckStore['outbox']>> {
  return { count: Number(row?.['count'] ?? 0), oldestAt: optionalNumber(row?.['oldest']) };
}
