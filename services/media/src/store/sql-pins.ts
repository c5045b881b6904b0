import type { Sql } from '@reelgate/platform/sql/sql';
import type { PinStore } from './media-store.ts';
import { fromBlobRow } from './object-rows.ts';
import type { BlobRow } from './object-rows.ts';
import { LOCK_CONTENT, freeContent } from './sql-removals.ts';

const PIN = `INSERT INTO pins (id, sha256, pinned_until) VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET pinned_until = CASE WHEN pins.pinned_until > $3 THEN pins.pinned_until ELSE $3 END`;
const PIN_CONTENT = `INSERT INTO blobs (sha256, storage_key, bytes, pinned_until, keep_until) VALUES ($1, $2, $3, $4, 0)
  ON CONFLICT (sha256) DO UPDATE
  SET pinned_until = CASE WHEN blobs.pinned_until > $4 THEN blobs.pinned_until ELSE $4 END
  RETURNING sha256, storage_key, bytes, facts`;

/** Pins, which protect the bytes of an upload until an object claims them. */
export function sqlPins(sql: Sql): PinStore {
  return {
    pinBlob: async ({ sha256, bytes, key }, until) => {
      // the row of the content comes last, because all uploads of the same content wait for it
      const [, rows = []] = await sql.writeAll([
        [PIN, [key, sha256, until]],
        [PIN_CONTENT, [sha256, key, bytes, until]],
      ]);
      const [row] = rows as readonly BlobRow[];
      if (row === undefined) throw new Error('an upsert gave no row');
      return fromBlobRow(row);
    },
    renewPin: ({ sha256, key }, pin, until) =>
      sql.transaction(async (query) => {
        const renewed = await query(
          `UPDATE blobs SET pinned_until = CASE WHEN pinned_until > $3 THEN pinned_until ELSE $3 END
          WHERE sha256 = $1 AND storage_key = $2 RETURNING sha256`,
          [sha256, key, until],
        );
        if (renewed.length > 0) await query(PIN, [pin, sha256, until]);
        else await query('INSERT INTO garbage (storage_key) VALUES ($1) ON CONFLICT DO NOTHING', [key]);
        return renewed.length > 0;
      }),
    dropPin: (pin, now) =>
      sql.transaction(async (query) => {
        const [dropped] = await query<{ sha256: string }>('DELETE FROM pins WHERE id = $1 RETURNING sha256', [pin]);
        if (dropped === undefined) return undefined;
        await query(LOCK_CONTENT, [dropped.sha256]);
        return freeContent(query, dropped.sha256, now);
      }),
  };
}
