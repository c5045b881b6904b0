import type { Sql } from '@reelgate/platform/sql/sql';
import type { MediaStore } from './media-store.ts';
import { fromBlobRow } from './object-rows.ts';
import type { BlobRow } from './object-rows.ts';

/** The claimed contents, page by page, and their claimants. */
export function sqlBooks(sql: Sql): Pick<MediaStore, 'claimedBlobs' | 'claimants'> {
  return {
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
  };
}
