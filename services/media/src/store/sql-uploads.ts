import type { Sql, SqlInteger, SqlRow } from '@reelgate/platform/sql/sql';
import type { UploadStore } from './media-store.ts';

interface UploadRow extends SqlRow {
  readonly account_id: string;
  readonly bytes: SqlInteger;
  readonly expires_at: SqlInteger;
}

/** The inline bytes of an account: stored ones and expected ones. */
const IN_USE = `SELECT
  (SELECT COALESCE(SUM(b.bytes), 0) FROM objects o JOIN blobs b ON b.sha256 = o.sha256
    WHERE o.account_id = $1 AND o.purpose = 'inline' AND o.expires_at > $2)
  + (SELECT COALESCE(SUM(u.bytes), 0) FROM uploads u WHERE u.account_id = $1 AND u.expires_at > $2) AS bytes`;
const INSERT = 'INSERT INTO uploads (id, account_id, bytes, expires_at) VALUES ($1, $2, $3, $4)';
const FIND = 'SELECT account_id, bytes, expires_at FROM uploads WHERE id = $1 AND expires_at > $2';
/** Uploads of one account wait for each other at this row, so that each counts the earlier ones. */
export const LOCK_UPLOADER =
  'INSERT INTO uploaders (account_id) VALUES ($1) ON CONFLICT (account_id) DO UPDATE SET account_id = $1';

export function sqlUploads(sql: Sql): UploadStore {
  return {
    beginUpload: ({ id, accountId, bytes, expiresAt }, now, bytesMax) =>
      sql.transaction(async (query) => {
        await query(LOCK_UPLOADER, [accountId]);
        const [used] = await query<{ bytes: SqlInteger }>(IN_USE, [accountId, now]);
        if (Number(used?.bytes ?? 0) + bytes > bytesMax) return false;
        await query(INSERT, [id, accountId, bytes, expiresAt]);
        return true;
      }),
    findUpload: async (id, now) => {
      const [row] = await sql.read<UploadRow>(FIND, [id, now]);
      if (row === undefined) return undefined;
      return { id, accountId: row.account_id, bytes: Number(row.bytes), expiresAt: Number(row.expires_at) };
    },
    renewUpload: async (id, expiresAt) => {
      await sql.write('UPDATE uploads SET expires_at = $2 WHERE id = $1', [id, expiresAt]);
    },
    endUpload: async (id) => {
      await sql.write('DELETE FROM uploads WHERE id = $1', [id]);
    },
  };
}
