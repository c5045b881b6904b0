import { firstIdAt } from '@reelgate/platform/ids';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { optionalNumber, text } from './task-rows.ts';
import type { SelfCheckStore } from '../self-check-store.ts';

/** Beyond it, the number of waiting rows no longer grows. */
const COUNTED_MAX = 10_000;
const ATTEMPTS_MAX = 2000;
/** Of the tasks that are marked as past the soft deadline, and of those that are not marked yet. */
const LATE_MAX = 1000;
const LATE_NAMED_MAX = 3;

/** Literals, because SQLite does not match a parameter to the partial index. */
const lateWhere = (deadlinePassed: 0 | 1): string => `SELECT * FROM (
  SELECT id, channel, created_at, admission FROM tasks
  WHERE finished_at IS NULL AND deadline_passed = ${deadlinePassed} AND created_at < $1
  ORDER BY created_at LIMIT $2) page_${deadlinePassed}`;
/** A task past the hard deadline is raised to attention, and so are others for their own reasons. */
const LATE = `SELECT late.id, late.channel, late.created_at, late.admission, waiting.task_id AS waits
  FROM (${lateWhere(0)} UNION ALL ${lateWhere(1)}) late
  LEFT JOIN attention waiting ON waiting.task_id = late.id AND waiting.resolved_at IS NULL
  ORDER BY late.created_at`;

export function sqlSelfChecks(sql: Sql): SelfCheckStore {
  return {
    outbox: async () =>
      toBacklog(
        await sql.read(
          `SELECT COUNT(*) AS count, MIN(created_at) AS oldest
           FROM (SELECT created_at FROM outbox ORDER BY id LIMIT $1) staged`,
          [COUNTED_MAX],
        ),
      ),
    lateTasks: async (createdBefore) => {
      const rows = await sql.read(LATE, [createdBefore, LATE_MAX]);
      const late = rows.filter((row) => row['waits'] === null);
      return {
        count: late.length,
        isAtLeast: rows.length >= LATE_MAX,
        oldest: late.slice(0, LATE_NAMED_MAX).map((row) => ({
          id: text(row['id']),
          channel: row['channel'] === null ? undefined : text(row['channel']),
          createdAt: Number(row['created_at']),
          isUnknown: row['admission'] === 'unknown',
        })),
      };
    },
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

function toBacklog([row]: readonly SqlRow[]): Awaited<ReturnType<SelfCheckStore['outbox']>> {
  return { count: Number(row?.['count'] ?? 0), oldestAt: optionalNumber(row?.['oldest']) };
}
