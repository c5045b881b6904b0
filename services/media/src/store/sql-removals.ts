import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import type { Purpose } from '../domain/media-object.ts';
import type { RemovalStore } from './media-store.ts';

/** Computes the ends of claims and pins from the remaining ones. The row of the content is locked first. */
export const SETTLE = `UPDATE blobs SET
    keep_until = COALESCE(
      (SELECT MAX(o.expires_at) FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL), $2),
    pinned_until = COALESCE((SELECT MAX(p.pinned_until) FROM pins p WHERE p.sha256 = blobs.sha256), 0)
  WHERE sha256 = $1`;
/** Locks the row: a transaction that waits for it reads what this one wrote. */
export const LOCK_CONTENT = 'UPDATE blobs SET sha256 = sha256 WHERE sha256 = $1';
const TAKE_FREE = `DELETE FROM blobs WHERE sha256 = $1 AND pinned_until <= $2 AND keep_until <= $2
  AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL)
  RETURNING storage_key`;

/**
 * Creates the part of the store that ends claims. If content loses its last protection, it becomes garbage in the same
 * transaction.
 */
export function sqlRemovals(sql: Sql): RemovalStore {
  const removeOne = (id: string, purposes: string, now: number): Promise<string | undefined> =>
    sql.transaction(async (query) => {
      const [found] = await query<{ sha256: string }>(
        `SELECT sha256 FROM objects WHERE id = $1 AND purpose IN (${purposes})`,
        [id],
      );
      if (found === undefined) return undefined;
      // the row of the content is always locked before its objects, so transactions do not deadlock
      await query(LOCK_CONTENT, [found.sha256]);
      await query('DELETE FROM objects WHERE id = $1', [id]);
      return freeContent(query, found.sha256, now);
    });
  const removeObjects: RemovalStore['removeObjects'] = async (ids, purposes, now) => {
    const keys: string[] = [];
    for (const id of ids) {
      const key = await removeOne(id, purposes.map((purpose) => `'${purpose}'`).join(', '), now);
      if (key !== undefined) keys.push(key);
    }
    return keys;
  };
  return {
    removeObjects,
    removeResult: (taskId, now) =>
      sql.transaction(async (query) => {
        // in this order: the second update finds a picture that is added at the same moment, or it is not added
        const [result] = await markRemoved(query, 'result', taskId, now);
        for (const { sha256 } of [
          ...(result === undefined ? [] : [result]),
          ...(await markRemoved(query, 'thumbnail', taskId, now)),
          ...(await markRemoved(query, 'last_frame', taskId, now)),
        ])
          await query(SETTLE, [sha256, now]);
        return result !== undefined;
      }),
    endStaging: async ({ accountId, taskId }, now, forgetAt) => {
      // its own transaction: no object is added after it, and the objects before it are found below
      await sql.write(
        `INSERT INTO stagings (account_id, task_id, ended, forget_at) VALUES ($1, $2, 1, $3)
        ON CONFLICT (account_id, task_id) DO UPDATE SET ended = 1, forget_at = $3`,
        [accountId, taskId, forgetAt],
      );
      const staged = await sql.read<{ id: string }>(
        "SELECT id FROM objects WHERE account_id = $1 AND task_id = $2 AND purpose = 'staged'",
        [accountId, taskId],
      );
      return removeObjects(
        staged.map(({ id }) => id),
        ['staged'],
        now,
      );
    },
  };
}

/** Ends the protection by a claim or a pin. Returns the key of the bytes if they are garbage now. */
export async function freeContent(query: SqlQuery, sha256: string, now: number): Promise<string | undefined> {
  await query(SETTLE, [sha256, now]);
  const [free] = await query<{ storage_key: string }>(TAKE_FREE, [sha256, now]);
  if (free === undefined) return undefined;
  await query('INSERT INTO garbage (storage_key) VALUES ($1)', [free.storage_key]);
  return free.storage_key;
}

function markRemoved(query: SqlQuery, purpose: Purpose, taskId: string, now: number): Promise<{ sha256: string }[]> {
  return query<{ sha256: string }>(
    'UPDATE objects SET removed_at = $3 WHERE task_id = $1 AND purpose = $2 AND removed_at IS NULL RETURNING sha256',
    [taskId, purpose, now],
  );
}
