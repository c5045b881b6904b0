import type { Sql } from '@reelgate/platform/sql/sql';
import { SCHEDULED_LANE } from '../../domain/lane.ts';
import { selectNumber, text } from '../columns.ts';
import type { Flow, QueueReads, ScheduleStore } from '../queue-store.ts';
import { countPlaces, enterFlow } from './sql-flows.ts';
import { lockAccount, lockPlace } from './sql-queue.ts';
import { TASK } from './task-rows.ts';

/** The tasks before their time: by their creates, or after several refusals. */
export function sqlSchedule(sql: Sql): ScheduleStore {
  const start = (taskId: string, next: Omit<Flow, 'tokenId'>, now: number): Promise<boolean> =>
    sql.transaction(async (query) => {
      await lockAccount(query, next);
      const place = await lockPlace(query, taskId, 0);
      if (place?.nextLane === undefined || place.notBefore === undefined || place.notBefore > now) return false;
      await countPlaces(query, place, -1);
      await enterFlow(query, { ...place, lane: place.nextLane });
      // a task that returned has waited since its create
      await query(
        `UPDATE waiting SET lane = next_lane, next_lane = NULL, since = CASE
           WHEN EXISTS (SELECT 1 FROM attempts WHERE attempts.task_id = $2) THEN since ELSE $1 END
         WHERE task_id = $2`,
        [place.notBefore, taskId],
      );
      return true;
    });
  return {
    startScheduled: async (now, limit) => {
      const due = await sql.read(
        `SELECT task_id, next_lane, account_id FROM waiting
         WHERE next_lane IS NOT NULL AND not_before <= $1 ORDER BY not_before LIMIT $2`,
        [now, limit],
      );
      let started = 0;
      for (const row of due) {
        const next = { lane: text(row['next_lane']), accountId: text(row['account_id']) };
        if (await start(text(row['task_id']), next, now)) started += 1;
      }
      return started;
    },
  };
}

export function sqlQueueReads(sql: Sql): QueueReads {
  const sum = async (where: string, values: readonly string[]): Promise<number> =>
    (await selectNumber(sql.read, 'SUM(waiting)', `queue_accounts WHERE waiting > 0 ${where}`, values)) ?? 0;
  return {
    listLanes: async () =>
      (
        await sql.read('SELECT DISTINCT lane FROM queue_accounts WHERE waiting > 0 AND lane <> $1 ORDER BY lane', [
          SCHEDULED_LANE,
        ])
      ).map((row) => text(row['lane'])),
    readShare: async (lane, accountId, tokenId) => {
      const [row] = await sql.read(
        `SELECT COALESCE(SUM(CASE WHEN waiting > 0 AND account_id <> $2 THEN weight ELSE 0 END), 0) AS others,
           COALESCE(MAX(CASE WHEN account_id = $2 THEN weight END), 1) AS weight,
           (SELECT COALESCE(MAX(waiting), 0) FROM queue_tokens
            WHERE lane = $1 AND account_id = $2 AND token_id = $3) AS of_token
         FROM queue_accounts WHERE lane = $1 AND (waiting > 0 OR account_id = $2)`,
        [lane, accountId, tokenId ?? ''],
      );
      const weight = Number(row?.['weight'] ?? 1);
      return { weight, weights: Number(row?.['others'] ?? 0) + weight, ofToken: Number(row?.['of_token'] ?? 0) };
    },
    listExpired: async (now, limit) =>
      (
        await sql.read(
          `SELECT ${TASK.names.map((name) => `tasks.${name}`).join(', ')}, COALESCE(next_lane, lane) AS turn_lane
           FROM waiting JOIN tasks ON tasks.id = task_id
           WHERE claimed = 0 AND start_by <= $1 ORDER BY start_by LIMIT $2`,
          [now, limit],
        )
      ).map((row) => ({ task: TASK.read(row), lane: text(row['turn_lane']) })),
    listBlocked: async (after, limit) =>
      (
        await sql.read(
          `SELECT DISTINCT token_id FROM queue_tokens WHERE ready = 0 AND token_id > $1 ORDER BY token_id LIMIT $2`,
          [after, limit],
        )
      ).map((row) => text(row['token_id'])),
    countWaiting: async (accountId) => ({
      ofAccount: await sum('AND account_id = $1', [accountId]),
      total: await sum('', []),
    }),
  };
}
