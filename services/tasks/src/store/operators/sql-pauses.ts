import type { NewId } from '@reelgate/platform/ids';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { text } from '../tasks/task-rows.ts';
import { PAUSES_MAX } from '../operator-store.ts';
import type { Pause, PauseStore } from '../operator-store.ts';
import { newActId } from './sql-acts.ts';
import type { WriteAct } from './sql-acts.ts';

export function sqlPauses(sql: Sql, newId: NewId, writeAct: WriteAct): PauseStore {
  return {
    pauses: async () =>
      (
        await sql.read('SELECT channel, paused_at, actor, reason FROM channel_pauses ORDER BY channel LIMIT $1', [
          PAUSES_MAX,
        ])
      ).map(fromRow),
    pause: ({ channel, at, actor, reason }) =>
      sql.transaction(async (query) => {
        const id = newActId(newId);
        // The update changes nothing. It returns, and locks, the row that is there.
        const [row] = await query(
          `INSERT INTO channel_pauses (channel, paused_at, actor, reason, act_id) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (channel) DO UPDATE SET channel = excluded.channel
           RETURNING channel, paused_at, actor, reason, act_id`,
          [channel, at, actor, reason, id],
        );
        if (row === undefined) throw new Error(`the pause of ${channel} was not written`);
        if (text(row['act_id']) === id)
          await writeAct(query, { at, actor, action: 'channel_paused', subject: channel, reason }, id);
        return fromRow(row);
      }),
    resume: ({ channel, at, actor, reason }) =>
      sql.transaction(async (query) => {
        const rows = await query('DELETE FROM channel_pauses WHERE channel = $1 RETURNING channel', [channel]);
        if (rows.length === 0) return false;
        await writeAct(query, { at, actor, action: 'channel_resumed', subject: channel, reason });
        return true;
      }),
  };
}

function fromRow(row: SqlRow): Pause {
  return {
    channel: text(row['channel']),
    at: Number(row['paused_at']),
    actor: text(row['actor']),
    reason: text(row['reason']),
  };
}
