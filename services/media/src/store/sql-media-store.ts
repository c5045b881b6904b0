import type { Sql } from '@reelgate/platform/sql/sql';
import { isPicture } from '../domain/media-object.ts';
import type { MediaObject, Purpose } from '../domain/media-object.ts';
import type { MediaStore, SweepStore, CountResults } from './media-store.ts';
import { PICTURE_OF, RESULT_OF, STAGED_FOR, findObject, fromBlobRow } from './object-rows.ts';
import type { BlobRow, Where } from './object-rows.ts';
import { sqlClaims, sqlPins } from './sql-claims.ts';
import { sqlFiles, sqlUploads } from './sql-files.ts';
import { sqlRemovals } from './sql-removals.ts';

export function sqlMediaStore(sql: Sql): MediaStore {
  const one = (...which: Where): Promise<MediaObject | undefined> => findObject(sql.read, which);
  return {
    find: (id) => one('o.id = $1', [id]),
    findResult: (taskId) => one(...RESULT_OF(taskId)),
    findPicture: (picture, taskId) => one(...PICTURE_OF(picture, taskId)),
    findStaged: (accountId, taskId, reference) => one(...STAGED_FOR(accountId, taskId, reference)),
    noteFacts: async (sha256, facts) => {
      await sql.write('UPDATE blobs SET facts = $2 WHERE sha256 = $1', [sha256, JSON.stringify(facts)]);
    },
    claimedBlobs: async (after, limit) =>
      (
        await sql.read<BlobRow>(
          `SELECT sha256, storage_key, bytes, facts FROM blobs
      WHERE storage_key > $1
      AND EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL)
      ORDER BY storage_key LIMIT $2`,
          [after, limit],
        )
      ).map(fromBlobRow),
    claimants: async ({ sha256, key }, limit) =>
      (
        await sql.read<{ id: string; task_id: string }>(
          `SELECT o.id, o.task_id FROM objects o JOIN blobs b ON b.sha256 = o.sha256 AND b.storage_key = $3
      WHERE o.sha256 = $1 AND o.removed_at IS NULL ORDER BY o.id LIMIT $2`,
          [sha256, limit, key],
        )
      ).map(({ id, task_id: taskId }) => ({ id, taskId })),
    ...sqlClaims(sql),
    ...sqlPins(sql),
    ...sqlRemovals(sql),
    ...sqlUploads(sql),
    ...sqlSweeps(sql),
    ...sqlFiles(sql),
  };
}

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
function sqlSweeps(sql: Sql): SweepStore {
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

const PAGE = 1000;
const NEXT = `SELECT COUNT(*) AS count, MAX(id) AS last, SUM(kept) AS bytes,
    SUM(CASE WHEN expires_at <= $3 THEN kept ELSE 0 END) AS expiring
  FROM (SELECT o.id, o.expires_at,
      CASE WHEN o.purpose = 'result' AND o.removed_at IS NULL THEN b.bytes ELSE 0 END AS kept
    FROM objects o JOIN blobs b ON b.sha256 = o.sha256 WHERE o.id > $1 ORDER BY o.id LIMIT $2) page`;

export function sqlKeptResults(sql: Sql, page = PAGE): CountResults {
  return async ({ after, bytes, expiring }, soon) => {
    const [row] = await sql.read(NEXT, [after, page, soon]);
    return {
      after: String(row?.['last'] ?? ''),
      bytes: bytes + Number(row?.['bytes'] ?? 0),
      expiring: expiring + Number(row?.['expiring'] ?? 0),
      isWhole: Number(row?.['count'] ?? 0) < page,
    };
  };
}
