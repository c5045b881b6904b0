import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import type { MediaFacts } from '../domain/media-facts.ts';
import type { Blob, MediaObject } from '../domain/media-object.ts';
import type { ClaimStore, NewObject } from './media-store.ts';
import { findObject, fromBlobRow, toIdentityWhere, toPurposeColumn } from './object-rows.ts';
import type { BlobRow } from './object-rows.ts';

/** The time for which the staging of a task is remembered, in milliseconds. A forgotten row is written again. */
const STAGING_MS = 3_600_000;
const HOLD_CONTENT = 'UPDATE blobs SET facts = facts WHERE sha256 = $1 AND storage_key = $2 RETURNING sha256';
/** The pin of the upload stays in `pinned_until` until the next removal or the end of that time. */
const CLAIM_CONTENT = `UPDATE blobs SET facts = COALESCE($3, facts),
    keep_until = CASE WHEN keep_until > $4 THEN keep_until ELSE $4 END
  WHERE sha256 = $1 AND storage_key = $2 RETURNING sha256, storage_key, bytes, facts`;

const INSERT_OBJECT = buildInsert(
  'objects',
  ['id', 'account_id', 'task_id', 'purpose', 'sha256', 'reference', 'created_at', 'expires_at'],
  'ON CONFLICT DO NOTHING RETURNING id',
);

/** The target of a claim is gone. The transaction rolls back. */
class Unclaimable extends Error {}

export function sqlClaims(sql: Sql): ClaimStore {
  return {
    addObject: (object, facts) =>
      sql
        .transaction((query) => addObject(query, object, facts))
        .catch((error: unknown) => {
          if (error instanceof Unclaimable) return undefined;
          throw error;
        }),
  };
}

/**
 * The row of the content is locked last, because all claims to the same content wait for it. Claims that lock rows of
 * other objects lock it first, as removals do, so that they do not deadlock.
 */
async function addObject(
  query: SqlQuery,
  object: NewObject,
  facts: MediaFacts | undefined,
): Promise<MediaObject | undefined> {
  const content = [object.blob.sha256, object.blob.key];
  const locksOthers = object.purpose === 'thumbnail' || object.purpose === 'staged';
  if (locksOthers) await requireRow(query(HOLD_CONTENT, content));
  await prepareClaim(query, object);
  const isNew = await insertObject(query, object);
  // an earlier object may have other content; then its upload ends the pin
  const isClaimed = isNew || (await findObject(query, toIdentityWhere(object)))?.blob.sha256 === object.blob.sha256;
  if (isClaimed) await query('DELETE FROM pins WHERE id = $1', [object.pin ?? '']);
  if (object.upload !== undefined) await query('DELETE FROM uploads WHERE id = $1', [object.upload]);
  const keepUntil = isNew ? object.expiresAt : 0;
  const row = await requireRow(
    query<BlobRow>(CLAIM_CONTENT, [...content, facts === undefined ? null : JSON.stringify(facts), keepUntil]),
  );
  return isNew ? toMediaObject(object, fromBlobRow(row)) : findObject(query, toIdentityWhere(object));
}

function toMediaObject({ id, accountId, taskId, purpose, createdAt, expiresAt }: NewObject, blob: Blob): MediaObject {
  return { id, accountId, taskId, purpose, createdAt, expiresAt, removedAt: undefined, blob };
}

async function requireRow<Row>(rows: Promise<readonly Row[]>): Promise<Row> {
  const [row] = await rows;
  if (row === undefined) throw new Unclaimable();
  return row;
}

async function prepareClaim(query: SqlQuery, object: NewObject): Promise<void> {
  const { purpose, accountId, taskId, reference, createdAt } = object;
  // locks the row of the result, so that it is not removed in the meantime
  if (purpose === 'thumbnail')
    await requireRow(
      query(
        `UPDATE objects SET task_id = task_id
        WHERE task_id = $1 AND purpose = 'result' AND removed_at IS NULL RETURNING id`,
        [taskId],
      ),
    );
  if (purpose !== 'staged') return;
  if (taskId !== '')
    // locks the row of the task: a concurrent end of its staging waits, and then finds the object
    await requireRow(
      query(
        `INSERT INTO stagings (account_id, task_id, ended, forget_at) VALUES ($1, $2, 0, $3)
        ON CONFLICT (account_id, task_id) DO UPDATE SET forget_at = $3 WHERE stagings.ended = 0 RETURNING task_id`,
        [accountId, taskId, createdAt + STAGING_MS],
      ),
    );
  // an expired object that is not swept yet must not be in the way
  await query(
    `DELETE FROM objects WHERE account_id = $1 AND task_id = $2 AND reference = $3
    AND purpose = 'staged' AND expires_at <= $4`,
    [accountId, taskId, reference, createdAt],
  );
}

/** False: the task has such an object already. */
async function insertObject(query: SqlQuery, object: NewObject): Promise<boolean> {
  const { id, accountId, taskId, purpose, blob, reference, createdAt, expiresAt } = object;
  const inserted = await query(
    ...INSERT_OBJECT({
      id,
      account_id: accountId,
      task_id: taskId,
      purpose: toPurposeColumn(purpose),
      sha256: blob.sha256,
      reference: reference === '' ? null : reference,
      created_at: createdAt,
      expires_at: expiresAt,
    }),
  );
  return inserted.length > 0;
}
