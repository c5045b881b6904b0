import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import type { MediaObject, Purpose } from '../domain/media-object.ts';
import type { MediaStore, NewObject } from './media-store.ts';
import {
  fromObjectRow,
  identityOf,
  purposeColumn,
  RESULT_OF,
  SELECT_OBJECTS,
  STAGED_FOR,
  THUMBNAIL_OF,
} from './object-rows.ts';
import type { ObjectRow } from './object-rows.ts';
import { sqlBooks } from './sql-books.ts';
import { sqlPins } from './sql-pins.ts';
import { SETTLE, sqlRemovals } from './sql-removals.ts';
import { sqlSweeps } from './sql-sweeps.ts';
import { sqlUploads } from './sql-uploads.ts';

/** How long the staging of a task is remembered. A forgotten row is written again. */
const STAGING_MS = 3_600_000;

export function sqlMediaStore(sql: Sql): MediaStore {
  const one = async (
    query: SqlQuery,
    where: string,
    values: readonly (string | number)[],
  ): Promise<MediaObject | undefined> => {
    const [row] = await query<ObjectRow>(`${SELECT_OBJECTS} WHERE ${where}`, values);
    return row === undefined ? undefined : fromObjectRow(row);
  };
  return {
    addObject: (object, facts) =>
      sql.transaction(async (query) => {
        // locks the row, so that it does not become garbage in the meantime
        const text = facts === undefined ? null : JSON.stringify(facts);
        const blobs = await query(
          'UPDATE blobs SET facts = COALESCE($2, facts) WHERE sha256 = $1 AND storage_key = $3 RETURNING sha256',
          [object.blob.sha256, text, object.blob.key],
        );
        if (blobs.length === 0 || !(await mayAdd(query, object))) return undefined;
        await insertObject(query, object);
        const added = await one(query, ...identityOf(object));
        // an earlier object may have other content; then its upload ends the pin
        if (added?.blob.sha256 === object.blob.sha256)
          await query('DELETE FROM pins WHERE id = $1', [object.pin ?? '']);
        await query('DELETE FROM uploads WHERE id = $1', [object.upload ?? '']);
        await query(SETTLE, [object.blob.sha256, object.createdAt]);
        return added;
      }),
    find: (id) => one(sql.read, 'o.id = $1', [id]),
    findResult: (taskId) => one(sql.read, ...RESULT_OF(taskId)),
    findThumbnail: (taskId) => one(sql.read, ...THUMBNAIL_OF(taskId)),
    findStaged: (accountId, taskId, reference) => one(sql.read, ...STAGED_FOR(accountId, taskId, reference)),
    noteFacts: async (sha256, facts) => {
      await sql.write('UPDATE blobs SET facts = $2 WHERE sha256 = $1', [sha256, JSON.stringify(facts)]);
    },
    removeResult: (taskId, now) =>
      sql.transaction(async (query) => {
        // in this order: the second update finds a thumbnail that is added at the same moment, or it is not added
        const [result] = await endOf(query, 'result', taskId, now);
        for (const { sha256 } of [
          ...(result === undefined ? [] : [result]),
          ...(await endOf(query, 'thumbnail', taskId, now)),
        ])
          await query(SETTLE, [sha256, now]);
        return result !== undefined;
      }),
    ...sqlPins(sql),
    ...sqlBooks(sql),
    ...sqlRemovals(sql),
    ...sqlUploads(sql),
    ...sqlSweeps(sql),
  };
}

function endOf(query: SqlQuery, purpose: Purpose, taskId: string, now: number): Promise<{ sha256: string }[]> {
  return query<{ sha256: string }>(
    'UPDATE objects SET removed_at = $3 WHERE task_id = $1 AND purpose = $2 AND removed_at IS NULL RETURNING sha256',
    [taskId, purposeColumn(purpose), now],
  );
}

async function mayAdd(query: SqlQuery, { purpose, accountId, taskId, createdAt }: NewObject): Promise<boolean> {
  if (purpose === 'thumbnail') return holdResult(query, taskId);
  if (purpose !== 'staged' || taskId === '') return true;
  // locks the row of the task: a concurrent end of its staging waits, and then finds the object
  const open = await query(
    `INSERT INTO stagings (account_id, task_id, ended, forget_at) VALUES ($1, $2, 0, $3)
    ON CONFLICT (account_id, task_id) DO UPDATE SET forget_at = $3 WHERE stagings.ended = 0 RETURNING task_id`,
    [accountId, taskId, createdAt + STAGING_MS],
  );
  return open.length > 0;
}

/** Locks the row of a result, so that it is not removed in the meantime; false: it is gone. */
async function holdResult(query: SqlQuery, taskId: string): Promise<boolean> {
  return (
    (
      await query(
        `UPDATE objects SET task_id = task_id
        WHERE task_id = $1 AND purpose = 'result' AND removed_at IS NULL RETURNING id`,
        [taskId],
      )
    ).length > 0
  );
}

async function insertObject(query: SqlQuery, object: NewObject): Promise<void> {
  const { id, accountId, taskId, purpose, blob, reference, createdAt, expiresAt } = object;
  // an expired object that is not swept yet must not be in the way
  if (purpose === 'staged')
    await query(
      `DELETE FROM objects WHERE account_id = $1 AND task_id = $2 AND reference = $3
      AND purpose = 'staged' AND expires_at <= $4`,
      [accountId, taskId, reference, createdAt],
    );
  await query(
    `INSERT INTO objects (id, account_id, task_id, purpose, sha256, reference, created_at, expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
    [
      id,
      accountId,
      taskId,
      purposeColumn(purpose),
      blob.sha256,
      reference === '' ? null : reference,
      createdAt,
      expiresAt,
    ],
  );
}
