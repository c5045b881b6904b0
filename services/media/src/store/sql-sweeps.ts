import type { Sql } from '@reelgate/platform/sql/sql';
import { isPicture } from '../domain/media-object.ts';
import type { Purpose } from '../domain/media-object.ts';
import type { SweepStore } from './media-store.ts';

/** Tables with rows that expire, and the columns of their key and their end. */
const SPENT = [
  ['pins', 'id', 'pinned_until'],
  ['uploads', 'id', 'expires_at'],
  ['stagings', 'task_id', 'forget_at'],
  ['files', 'id', 'expires_at'],
] as const;
const FORGET_OBJECTS = `DELETE FROM objects
  WHERE id IN (SELECT id FROM objects WHERE removed_at <= $1 ORDER BY removed_at LIMIT $2) RETURNING id`;

/** Removes expired rows and unclaimed content. */
export function sqlSweeps(sql: Sql): SweepStore {
  return {
    // a result is remembered, so that its link answers 410
    expireObjects: (now, limit) =>
      sql.transaction(async (query) => {
        const due = await query<{ id: string; purpose: Purpose }>(
          'SELECT id, purpose FROM objects WHERE removed_at IS NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2',
          [now, limit],
        );
        for (const { id, purpose } of due) {
          if (purpose === 'result' || isPicture(purpose))
            await query('UPDATE objects SET removed_at = $2 WHERE id = $1 AND removed_at IS NULL', [id, now]);
          else await query('DELETE FROM objects WHERE id = $1', [id]);
        }
        return due.length;
      }),
    forgetSpent: async (now, limit) => {
      let forgotten = 0;
      for (const [table, id, end] of SPENT) {
        forgotten += (
          await sql.write(
            `DELETE FROM ${table}
            WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${end} <= $1 ORDER BY ${end} LIMIT $2)
            AND ${end} <= $1 RETURNING ${id}`,
            [now, limit],
          )
        ).length;
      }
      return forgotten;
    },
    forgetObjects: async (before, limit) => (await sql.write(FORGET_OBJECTS, [before, limit])).length,
    takeGarbage: (now, limit) =>
      sql.transaction(async (query) => {
        const taken = await query<{ storage_key: string }>(
          `DELETE FROM blobs WHERE pinned_until <= $1 AND keep_until <= $1
        AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL)
        AND sha256 IN
          (SELECT sha256 FROM blobs WHERE pinned_until <= $1 AND keep_until <= $1 ORDER BY keep_until LIMIT $2)
        RETURNING storage_key`,
          [now, limit],
        );
        for (const { storage_key: key } of taken) await query('INSERT INTO garbage (storage_key) VALUES ($1)', [key]);
        const all = await query<{ storage_key: string }>(
          'SELECT storage_key FROM garbage ORDER BY storage_key LIMIT $1',
          [limit],
        );
        return all.map(({ storage_key: key }) => key);
      }),
    forgetGarbage: async (key) => {
      await sql.write('DELETE FROM garbage WHERE storage_key = $1', [key]);
    },
  };
}
