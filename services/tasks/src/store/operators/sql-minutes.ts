import type { Sql } from '@reelgate/platform/sql/sql';
import { byRows, inExactChunks, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import { text } from '../tasks/task-rows.ts';
import type { MinuteStore } from '../operator-store.ts';

const UPSERT = byRows(
  (rows) => `INSERT INTO minute_counts (minute, process, channel, counts_json) VALUES ${valueRows(rows, 4)}
    ON CONFLICT (minute, process, channel) DO UPDATE SET counts_json = excluded.counts_json`,
);

export function sqlMinutes(sql: Sql): MinuteStore {
  return {
    // A power cut may take the last counts back.
    writeMinutes: (process, rows) =>
      sql.commitUnsynced(async (query) => {
        for (const chunk of inExactChunks(rows))
          await query(
            UPSERT(chunk.length),
            rowValues([], chunk, ({ minute, channel, json }) => [minute, process, channel, json]),
          );
      }),
    minutesSince: async (minute, limit) =>
      (
        await sql.read(
          `SELECT minute, channel, counts_json FROM minute_counts WHERE minute >= $1 ORDER BY minute DESC LIMIT $2`,
          [minute, limit],
        )
      ).map((row) => ({
        minute: Number(row['minute']),
        channel: text(row['channel']),
        json: text(row['counts_json']),
      })),
    removeMinutes: async (before, limit) =>
      (
        await sql.write(
          `DELETE FROM minute_counts WHERE (minute, process, channel) IN (
             SELECT minute, process, channel FROM minute_counts
             WHERE minute < $1 ORDER BY minute LIMIT $2 ${sql.skipLocked}
           ) RETURNING minute`,
          [before, limit],
        )
      ).length,
  };
}
