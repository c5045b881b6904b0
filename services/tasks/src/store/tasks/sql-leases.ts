import type { Sql } from '@reelgate/platform/sql/sql';
import { TASK_COLUMNS, fromTaskRow, text } from './task-rows.ts';
import { AHEAD_MS } from '../task-store.ts';
import type { MoveStore } from '../task-store.ts';

export const UNFINISHED = "state IN ('queued', 'in_progress')";

/** The leases of tasks: the process that polls a task. */
export function sqlLeases(sql: Sql): Pick<MoveStore, 'claimDue' | 'dropLeases' | 'listLeasedIds' | 'dropLease'> {
  return {
    claimDue: async (channel, { now, leaseUntil, limit, owner }) =>
      (
        await sql.write(
          `UPDATE tasks SET lease_until = $1, owner = $5 WHERE id IN (
         SELECT id FROM tasks WHERE channel = $2 AND next_poll_at IS NOT NULL AND next_poll_at <= $3
           AND (lease_until IS NULL OR lease_until <= $3)
         ORDER BY next_poll_at LIMIT $4 ${sql.skipLocked}
       ) RETURNING ${TASK_COLUMNS}`,
          [leaseUntil, channel, now, limit, owner],
        )
      ).map(fromTaskRow),
    dropLeases: async (owner) => {
      await sql.write(
        'UPDATE tasks SET lease_until = NULL, owner = NULL, resumed = 1 WHERE owner = $1 AND lease_until IS NOT NULL',
        [owner],
      );
    },

    listLeasedIds: async (channel, owner) =>
      (
        await sql.read(
          `SELECT id FROM tasks
           WHERE channel = $1 AND next_poll_at IS NOT NULL AND owner = $2 AND lease_until IS NOT NULL`,
          [channel, owner],
        )
      ).map((row) => text(row['id'])),
    dropLease: async (taskId, owner) => {
      await sql.write(
        'UPDATE tasks SET lease_until = NULL, owner = NULL WHERE id = $1 AND owner = $2 AND lease_until IS NOT NULL',
        [taskId, owner],
      );
    },
  };
}

/** The due times of tasks: the time at which a task is polled. */
export function sqlDueTimes(sql: Sql): Pick<MoveStore, 'pullIn' | 'makeDue' | 'pollSoon'> {
  return {
    pullIn: async (channel, { beyond, to, limit }) =>
      (
        await sql.write(
          `UPDATE tasks SET next_poll_at = $1 WHERE id IN (
         SELECT id FROM tasks WHERE channel = $2 AND next_poll_at IS NOT NULL AND next_poll_at > $3
         LIMIT $4 ${sql.skipLocked}
       ) RETURNING id`,
          [to, channel, beyond, limit],
        )
      ).length,

    makeDue: async (taskId, at) => {
      await sql.write(
        `UPDATE tasks SET next_poll_at = $1, lease_until = NULL
         WHERE id = $2 AND next_poll_at IS NOT NULL AND next_poll_at > $1 AND ${UNFINISHED}`,
        [at, taskId],
      );
    },
    // During a poll the due time moves by a millisecond and stays in the past. `progress` sees that it has changed.
    pollSoon: async (taskId, at) =>
      (
        await sql.write(
          `UPDATE tasks SET next_poll_at = CASE WHEN lease_until > $1 THEN next_poll_at + 1 ELSE $2 END
       WHERE id = $3 AND next_poll_at IS NOT NULL AND ${UNFINISHED}
         AND ((lease_until > $1 AND next_poll_at <= $1)
           OR ((lease_until IS NULL OR lease_until <= $1) AND next_poll_at > $2)) RETURNING id`,
          [at, at - AHEAD_MS, taskId],
        )
      ).length > 0,
  };
}
