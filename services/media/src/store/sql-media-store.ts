import type { Sql } from '@reelgate/platform/sql/sql';
import type { MediaObject } from '../domain/media-object.ts';
import type { MediaStore } from './media-store.ts';
import { PICTURE_OF, RESULT_OF, STAGED_FOR, findObject, fromBlobRow } from './object-rows.ts';
import type { BlobRow, Where } from './object-rows.ts';
import { sqlClaims, sqlPins } from './sql-claims.ts';
import { sqlFiles } from './sql-files.ts';
import { sqlRemovals } from './sql-removals.ts';
import { sqlSweeps } from './sql-sweeps.ts';
import { sqlUploads } from './sql-uploads.ts';

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
