import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlInteger, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import { FilePurpose as WirePurpose, StoredFileSchema } from '@reelgate/proto/media/v1/file_service';
import type { StoredFile } from '@reelgate/proto/media/v1/file_service';
import type { FilePurpose, FileReservation, FileStore, ReserveResult, UploadStore } from './media-store.ts';
import { LOCK_CONTENT, SETTLE, freeContent } from './sql-removals.ts';

const PURPOSES = deriveValues(WirePurpose);
const PURPOSE_WORDS = deriveWords(WirePurpose);

interface FileRow extends SqlRow {
  readonly id: string;
  readonly account_id: string;
  readonly file_key: string | null;
  readonly token_id: string;
  readonly filename: string;
  readonly purpose: FilePurpose;
  readonly bytes: SqlInteger;
  readonly committed: SqlInteger;
  readonly created_at: SqlInteger;
  readonly expires_at: SqlInteger;
}

const COLUMNS = [
  'id',
  'account_id',
  'file_key',
  'token_id',
  'filename',
  'purpose',
  'bytes',
  'committed',
  'created_at',
  'expires_at',
] as const;
const LISTED = COLUMNS.join(', ');
const FIND = `SELECT ${LISTED} FROM files WHERE id = $1 AND account_id = $2 AND expires_at > $3`;
const FIND_BY_KEY = `SELECT ${LISTED} FROM files WHERE account_id = $1 AND file_key = $2 AND expires_at > $3`;
/** An expired row that is not swept yet must not be in the way. */
const FORGET_KEY = 'DELETE FROM files WHERE account_id = $1 AND file_key = $2';
/** An output counts once it is there: how long it gets is unknown before. */
const IN_USE = `SELECT COUNT(*) AS files,
    COALESCE(SUM(CASE WHEN committed = 1 OR purpose = 'batch' THEN bytes ELSE 0 END), 0) AS bytes
  FROM files WHERE account_id = $1 AND expires_at > $2`;
const INSERT = buildInsert('files', COLUMNS);
const CONTINUE = 'UPDATE files SET expires_at = $2, bytes = $3 WHERE id = $1';
const RENEW = 'UPDATE files SET expires_at = $2 WHERE id = $1 AND committed = 0';
const FIND_CONTENT = 'SELECT sha256 FROM objects WHERE id = $1';
const KEEP_OBJECT = 'UPDATE objects SET expires_at = $2 WHERE id = $1 RETURNING id';
const COMMIT = `UPDATE files SET committed = 1, token_id = $2, filename = $3, expires_at = $4,
    bytes = (SELECT b.bytes FROM blobs b WHERE b.sha256 = $5)
  WHERE id = $1 AND committed = 0`;

export function sqlFiles(sql: Sql): FileStore {
  return {
    reserveFile: (reservation, now, bounds) =>
      sql.transaction(async (query) => {
        // files of one account wait here, so that each is counted by the next
        await query(LOCK_UPLOADER, [reservation.accountId]);
        const found = await findByKey(query, reservation, now);
        if (found !== undefined) return found;
        const { files, bytes } = await countFiles(query, reservation.accountId, now);
        if (bounds !== undefined && (files >= bounds.filesMax || bytes + reservation.bytes > bounds.bytesMax))
          return { kind: 'full' };
        await query(...INSERT(toRow(reservation, now)));
        return { kind: 'reserved', reservation };
      }),
    countFiles: (accountId, now) => countFiles(sql.read, accountId, now),
    findReservation: async (accountId, id, now) => {
      const [row] = await sql.read<FileRow>(FIND, [id, accountId, now]);
      return row === undefined || isCommitted(row) ? undefined : readReservation(row);
    },
    renewReservation: async (id, expiresAt) => {
      await sql.write(RENEW, [id, expiresAt]);
    },
    commitFile: (accountId, id, { tokenId, filename, lifetimeMs }, now) =>
      sql.transaction(async (query) => {
        const [content] = await query<{ sha256: string }>(FIND_CONTENT, [id]);
        if (content === undefined) return undefined;
        // the row of the content is always locked before its objects, so transactions do not deadlock
        await query(LOCK_CONTENT, [content.sha256]);
        const [row] = await query<FileRow>(FIND, [id, accountId, now]);
        if (row === undefined || isCommitted(row)) return row && readFile(row);
        const expiresAt = Number(row.created_at) + lifetimeMs;
        if ((await query(KEEP_OBJECT, [id, expiresAt])).length === 0) return undefined;
        await query(COMMIT, [id, tokenId, filename, expiresAt, content.sha256]);
        await query(SETTLE, [content.sha256, now]);
        const [file] = await query<FileRow>(FIND, [id, accountId, now]);
        return file && readFile(file);
      }),
    findFile: async (accountId, id, now) => {
      const [row] = await sql.read<FileRow>(FIND, [id, accountId, now]);
      return row !== undefined && isCommitted(row) ? readFile(row) : undefined;
    },
    listFiles: async ({ accountId, purpose, limit, after, ascending }, now) => {
      const [beyond, direction] = ascending ? ['>', 'ASC'] : ['<', 'DESC'];
      const rows = await sql.read<FileRow>(
        `SELECT ${LISTED} FROM files WHERE account_id = $1 AND committed = 1 AND expires_at > $2
          AND ($3 = '' OR purpose = $3) AND ($4 = '' OR id ${beyond} $4) ORDER BY id ${direction} LIMIT $5`,
        [accountId, now, PURPOSE_WORDS[purpose] ?? '', after, limit],
      );
      return rows.map(readFile);
    },
    removeFile: (accountId, id, now) =>
      sql.transaction(async (query) => {
        const [row] = await query<FileRow>(FIND, [id, accountId, now]);
        if (row === undefined) return { removed: false, key: undefined };
        const [content] = await query<{ sha256: string }>(FIND_CONTENT, [id]);
        if (content !== undefined) await query(LOCK_CONTENT, [content.sha256]);
        await query('DELETE FROM objects WHERE id = $1', [id]);
        const gone = await query('DELETE FROM files WHERE id = $1 RETURNING id', [id]);
        const key = content && (await freeContent(query, content.sha256, now));
        return { removed: gone.length > 0 && isCommitted(row), key };
      }),
  };
}

async function countFiles(query: SqlQuery, accountId: string, now: number) {
  const [used] = await query<{ files: SqlInteger; bytes: SqlInteger }>(IN_USE, [accountId, now]);
  return { files: Number(used?.files ?? 0), bytes: Number(used?.bytes ?? 0) };
}

/** Returns the file of the key, or continues its reservation. Another writer of the same key can still be at it. */
async function findByKey(
  query: SqlQuery,
  { accountId, key, bytes, expiresAt }: FileReservation,
  now: number,
): Promise<ReserveResult | undefined> {
  if (key === undefined) return undefined;
  const [row] = await query<FileRow>(FIND_BY_KEY, [accountId, key, now]);
  if (row === undefined) {
    await query(FORGET_KEY, [accountId, key]);
    return undefined;
  }
  if (isCommitted(row)) return { kind: 'exists', file: readFile(row) };
  await query(CONTINUE, [row.id, expiresAt, bytes]);
  return { kind: 'reserved', reservation: { ...readReservation(row), bytes, expiresAt } };
}

const isCommitted = (row: FileRow): boolean => Number(row.committed) === 1;

function toRow({ id, accountId, key, purpose, bytes, expiresAt }: FileReservation, now: number) {
  return {
    id,
    account_id: accountId,
    file_key: key ?? null,
    token_id: '',
    filename: '',
    purpose,
    bytes,
    committed: 0,
    created_at: now,
    expires_at: expiresAt,
  };
}

function readReservation(row: FileRow): FileReservation {
  const { id, account_id: accountId, purpose, file_key: key, bytes, expires_at: expiresAt } = row;
  return { id, accountId, purpose, bytes: Number(bytes), key: key ?? undefined, expiresAt: Number(expiresAt) };
}

function readFile(row: FileRow): StoredFile {
  return toMessage(StoredFileSchema, {
    id: row.id,
    accountId: row.account_id,
    tokenId: row.token_id,
    filename: row.filename,
    purpose: PURPOSES[row.purpose],
    bytes: BigInt(row.bytes),
    createdAt: timestampFromMs(Number(row.created_at)),
    expiresAt: timestampFromMs(Number(row.expires_at)),
  });
}

interface UploadRow extends SqlRow {
  readonly account_id: string;
  readonly bytes: SqlInteger;
  readonly expires_at: SqlInteger;
}

/** The inline bytes of an account: stored ones and expected ones. */
const UPLOADS_IN_USE = `SELECT
  (SELECT COALESCE(SUM(b.bytes), 0) FROM objects o JOIN blobs b ON b.sha256 = o.sha256
    WHERE o.account_id = $1 AND o.purpose = 'inline' AND o.expires_at > $2)
  + (SELECT COALESCE(SUM(u.bytes), 0) FROM uploads u WHERE u.account_id = $1 AND u.expires_at > $2) AS bytes`;
const INSERT_UPLOAD = 'INSERT INTO uploads (id, account_id, bytes, expires_at) VALUES ($1, $2, $3, $4)';
const FIND_UPLOAD = 'SELECT account_id, bytes, expires_at FROM uploads WHERE id = $1 AND expires_at > $2';
/** Uploads of one account wait for each other at this row, so that each counts the earlier ones. */
const LOCK_UPLOADER =
  'INSERT INTO uploaders (account_id) VALUES ($1) ON CONFLICT (account_id) DO UPDATE SET account_id = $1';

export function sqlUploads(sql: Sql): UploadStore {
  return {
    beginUpload: ({ id, accountId, bytes, expiresAt }, now, bytesMax) =>
      sql.transaction(async (query) => {
        await query(LOCK_UPLOADER, [accountId]);
        const [used] = await query<{ bytes: SqlInteger }>(UPLOADS_IN_USE, [accountId, now]);
        if (Number(used?.bytes ?? 0) + bytes > bytesMax) return false;
        await query(INSERT_UPLOAD, [id, accountId, bytes, expiresAt]);
        return true;
      }),
    findUpload: async (id, now) => {
      const [row] = await sql.read<UploadRow>(FIND_UPLOAD, [id, now]);
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
