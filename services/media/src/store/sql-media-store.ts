import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { Blob, MediaObject, Purpose } from '../domain/media-object.ts';
import type { MediaStore, NewObject } from './media-store.ts';
import { SETTLE, sqlRemovals } from './sql-removals.ts';
import { sqlUploads } from './sql-uploads.ts';

interface BlobRow extends SqlRow {
  readonly sha256: string;
  readonly storage_key: string;
  readonly bytes: number;
  readonly facts: string | null;
}

interface ObjectRow extends BlobRow {
  readonly id: string;
  readonly account_id: string;
  readonly task_id: string;
  readonly purpose: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly removed_at: number | null;
}

const SELECT = `SELECT o.id, o.account_id, o.task_id, o.purpose, o.created_at, o.expires_at, o.removed_at, o.sha256,
  COALESCE(b.storage_key, '') AS storage_key, COALESCE(b.bytes, 0) AS bytes, b.facts
  FROM objects o LEFT JOIN blobs b ON b.sha256 = o.sha256`;

/** How long the staging of a task is remembered. A forgotten row is written again. */
const STAGING_MS = 3_600_000;

const PIN = `INSERT INTO pins (id, sha256, pinned_until) VALUES ($1, $2, $3)
  ON CONFLICT (id) DO UPDATE SET pinned_until = CASE WHEN pins.pinned_until > $3 THEN pins.pinned_until ELSE $3 END`;

export function sqlMediaStore(sql: Sql): MediaStore {
  const one = async (
    query: SqlQuery,
    where: string,
    values: readonly (string | number)[],
  ): Promise<MediaObject | undefined> => {
    const [row] = await query<ObjectRow>(`${SELECT} WHERE ${where}`, values);
    return row === undefined ? undefined : fromObjectRow(row);
  };
  return {
    pinBlob: ({ sha256, bytes, key }, until) =>
      sql.transaction(async (query) => {
        const [row] = await query<BlobRow>(
          `INSERT INTO blobs (sha256, storage_key, bytes, pinned_until, keep_until) VALUES ($1, $2, $3, $4, 0)
        ON CONFLICT (sha256) DO UPDATE SET pinned_until = CASE WHEN blobs.pinned_until > $4 THEN blobs.pinned_until ELSE $4 END
        RETURNING sha256, storage_key, bytes, facts`,
          [sha256, key, bytes, until],
        );
        if (row === undefined) throw new Error('an upsert gave no row');
        await query(PIN, [key, sha256, until]);
        return fromBlobRow(row);
      }),
    renewPin: ({ sha256, key }, pin, until) =>
      sql.transaction(async (query) => {
        const renewed = await query(
          'UPDATE blobs SET pinned_until = CASE WHEN pinned_until > $3 THEN pinned_until ELSE $3 END WHERE sha256 = $1 AND storage_key = $2 RETURNING sha256',
          [sha256, key, until],
        );
        if (renewed.length > 0) await query(PIN, [pin, sha256, until]);
        else await query('INSERT INTO garbage (storage_key) VALUES ($1) ON CONFLICT DO NOTHING', [key]);
        return renewed.length > 0;
      }),
    addObject: (object, facts) =>
      sql.transaction(async (query) => {
        // takes the row, so that it cannot become garbage meanwhile
        const text = facts === undefined ? null : JSON.stringify(facts);
        const blobs = await query(
          'UPDATE blobs SET facts = COALESCE($2, facts) WHERE sha256 = $1 AND storage_key = $3 RETURNING sha256',
          [object.blob.sha256, text, object.blob.key],
        );
        if (blobs.length === 0 || !(await mayAdd(query, object))) return undefined;
        await insertObject(query, object);
        const added = await one(query, ...identityOf(object));
        // an object that was there before may be of other content, and then the pin is its upload's to end
        if (added?.blob.sha256 === object.blob.sha256)
          await query('DELETE FROM pins WHERE id = $1', [object.pin ?? '']);
        await query('DELETE FROM uploads WHERE id = $1', [object.upload ?? '']);
        await query(SETTLE, [object.blob.sha256, object.createdAt]);
        return added;
      }),
    find: (id) => one(sql.read, 'o.id = $1', [id]),
    findResult: (taskId) => one(sql.read, ...RESULT_OF(taskId)),
    findPoster: (taskId) => one(sql.read, ...POSTER_OF(taskId)),
    findStaged: (accountId, taskId, reference) => one(sql.read, ...STAGED_FOR(accountId, taskId, reference)),
    noteFacts: async (sha256, facts) => {
      await sql.write('UPDATE blobs SET facts = $2 WHERE sha256 = $1', [sha256, JSON.stringify(facts)]);
    },
    removeResult: (taskId, now) =>
      sql.transaction(async (query) => {
        // in this order: a poster that is being added meanwhile is there for the second, or does not come any more
        const [result] = await endOf(query, 'result', taskId, now);
        for (const { sha256 } of [
          ...(result === undefined ? [] : [result]),
          ...(await endOf(query, 'poster', taskId, now)),
        ])
          await query(SETTLE, [sha256, now]);
        return result !== undefined;
      }),
    ...books(sql),
    ...sqlRemovals(sql),
    ...sqlUploads(sql),
    ...sweeps(sql),
  };
}

function endOf(query: SqlQuery, purpose: Purpose, taskId: string, now: number): Promise<{ sha256: string }[]> {
  return query<{ sha256: string }>(
    'UPDATE objects SET removed_at = $3 WHERE task_id = $1 AND purpose = $2 AND removed_at IS NULL RETURNING sha256',
    [taskId, purpose, now],
  );
}

async function mayAdd(query: SqlQuery, { purpose, accountId, taskId, createdAt }: NewObject): Promise<boolean> {
  if (purpose === 'poster') return holdResult(query, taskId);
  if (purpose !== 'staged' || taskId === '') return true;
  // takes the row of the task: what ends its staging at the same moment waits, and then finds the object
  const open = await query(
    `INSERT INTO stagings (account_id, task_id, ended, forget_at) VALUES ($1, $2, 0, $3)
    ON CONFLICT (account_id, task_id) DO UPDATE SET forget_at = $3 WHERE stagings.ended = 0 RETURNING task_id`,
    [accountId, taskId, createdAt + STAGING_MS],
  );
  return open.length > 0;
}

/** Takes the row of a result, so that it cannot be removed meanwhile; false: it is not there any more. */
async function holdResult(query: SqlQuery, taskId: string): Promise<boolean> {
  return (
    (
      await query(
        "UPDATE objects SET task_id = task_id WHERE task_id = $1 AND purpose = 'result' AND removed_at IS NULL RETURNING id",
        [taskId],
      )
    ).length > 0
  );
}

function books(sql: Sql): Pick<MediaStore, 'claimedBlobs' | 'claimants'> {
  return {
    claimedBlobs: async (after, limit) =>
      (
        await sql.read<BlobRow>(
          `SELECT sha256, storage_key, bytes, facts FROM blobs
      WHERE storage_key > $1 AND EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL) ORDER BY storage_key LIMIT $2`,
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

type Where = readonly [string, readonly (string | number)[]];
const RESULT_OF = (taskId: string): Where => ["o.task_id = $1 AND o.purpose = 'result'", [taskId]];
const POSTER_OF = (taskId: string): Where => ["o.task_id = $1 AND o.purpose = 'poster'", [taskId]];
const STAGED_FOR = (accountId: string, taskId: string, reference: string): Where => [
  "o.account_id = $1 AND o.task_id = $2 AND o.reference = $3 AND o.purpose = 'staged'",
  [accountId, taskId, reference],
];

function identityOf({ id, purpose, accountId, taskId, reference }: NewObject): Where {
  if (purpose === 'result') return RESULT_OF(taskId);
  if (purpose === 'poster') return POSTER_OF(taskId);
  return purpose === 'staged' && reference !== '' ? STAGED_FOR(accountId, taskId, reference) : ['o.id = $1', [id]];
}

async function insertObject(query: SqlQuery, object: NewObject): Promise<void> {
  const { id, accountId, taskId, purpose, blob, reference, createdAt, expiresAt } = object;
  // one whose time is over, and that no sweep has met yet, must not stand in the way
  if (purpose === 'staged')
    await query(
      "DELETE FROM objects WHERE account_id = $1 AND task_id = $2 AND reference = $3 AND purpose = 'staged' AND expires_at <= $4",
      [accountId, taskId, reference, createdAt],
    );
  await query(
    `INSERT INTO objects (id, account_id, task_id, purpose, sha256, reference, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
    ON CONFLICT DO NOTHING`,
    [id, accountId, taskId, purpose, blob.sha256, reference === '' ? null : reference, createdAt, expiresAt],
  );
}

/** Tables whose rows end by themselves, with their key and their time. */
const SPENT = [
  ['pins', 'id', 'pinned_until'],
  ['uploads', 'id', 'expires_at'],
  ['stagings', 'task_id', 'forget_at'],
] as const;

function sweeps(
  sql: Sql,
): Pick<MediaStore, 'expireObjects' | 'forgetSpent' | 'forgetObjects' | 'takeGarbage' | 'forgetGarbage'> {
  return {
    // a result is remembered, so that its link says what became of it
    expireObjects: (now, limit) =>
      sql.transaction(async (query) => {
        const due = await query<{ id: string; purpose: string }>(
          'SELECT id, purpose FROM objects WHERE removed_at IS NULL AND expires_at <= $1 ORDER BY expires_at LIMIT $2',
          [now, limit],
        );
        for (const { id, purpose } of due) {
          if (purpose === 'result' || purpose === 'poster')
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
            `DELETE FROM ${table} WHERE ${id} IN (SELECT ${id} FROM ${table} WHERE ${end} <= $1 ORDER BY ${end} LIMIT $2) AND ${end} <= $1 RETURNING ${id}`,
            [now, limit],
          )
        ).length;
      }
      return forgotten;
    },
    forgetObjects: async (before, limit) =>
      (
        await sql.write(
          'DELETE FROM objects WHERE id IN (SELECT id FROM objects WHERE removed_at <= $1 ORDER BY removed_at LIMIT $2) RETURNING id',
          [before, limit],
        )
      ).length,
    takeGarbage: (now, limit) =>
      sql.transaction(async (query) => {
        const taken = await query<{ storage_key: string }>(
          `DELETE FROM blobs WHERE pinned_until <= $1 AND keep_until <= $1
        AND NOT EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL)
        AND sha256 IN (SELECT sha256 FROM blobs WHERE pinned_until <= $1 AND keep_until <= $1 ORDER BY keep_until LIMIT $2)
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

function fromBlobRow(row: BlobRow): Blob {
  return {
    sha256: row.sha256,
    bytes: row.bytes,
    key: row.storage_key,
    facts: row.facts === null ? undefined : (JSON.parse(row.facts) as MediaFacts),
  };
}

function fromObjectRow(row: ObjectRow): MediaObject {
  return {
    id: row.id,
    accountId: row.account_id,
    taskId: row.task_id,
    purpose: row.purpose as Purpose,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    removedAt: row.removed_at ?? undefined,
    blob: fromBlobRow(row),
  };
}
