import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlQuery, SqlStatement, SqlWork } from '@reelgate/platform/sql/sql';
import { runForRows } from '@reelgate/platform/sql/transaction';
import type { MediaFacts } from '../domain/media-facts.ts';
import { isPicture } from '../domain/media-object.ts';
import type { Blob, MediaObject } from '../domain/media-object.ts';
import type { ClaimStore, NewObject, PinStore } from './media-store.ts';
import { findObject, fromBlobRow, toIdentityWhere } from './object-rows.ts';
import type { BlobRow } from './object-rows.ts';
import { LOCK_CONTENT, freeContent } from './sql-removals.ts';

/** The time for which the staging of a task is remembered, in milliseconds. A forgotten row is written again. */
const STAGING_MS = 3_600_000;
const HOLD_CONTENT = 'UPDATE blobs SET facts = facts WHERE sha256 = $1 AND storage_key = $2 RETURNING sha256';
/**
 * The pin of the upload stays in `pinned_until` until the next removal or the end of that time. Only an object of the same
 * transaction keeps the content longer: an earlier one with the same end has done so already.
 */
const CLAIM_CONTENT = `UPDATE blobs SET facts = COALESCE($3, facts),
    keep_until = CASE WHEN keep_until < $4
      AND EXISTS (SELECT 1 FROM objects WHERE id = $5 AND objects.sha256 = blobs.sha256 AND expires_at = $4)
      THEN $4 ELSE keep_until END
  WHERE sha256 = $1 AND storage_key = $2 RETURNING sha256, storage_key, bytes, facts`;
const REPLACE_PIN = `DELETE FROM pins WHERE id = $1
  AND EXISTS (SELECT 1 FROM objects WHERE objects.id = $2 AND objects.sha256 = $3)`;
const END_PIN = 'DELETE FROM pins WHERE id = $1';
const END_UPLOAD = 'DELETE FROM uploads WHERE id = $1';

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
  query: SqlWork,
  object: NewObject,
  facts: MediaFacts | undefined,
): Promise<MediaObject | undefined> {
  const { id, purpose, blob, expiresAt, pin } = object;
  const content = [blob.sha256, blob.key];
  const locksOthers = isPicture(purpose) || purpose === 'staged';
  if (locksOthers) requireRow(await query(HOLD_CONTENT, content));
  await prepareClaim(query, object);
  const [inserted, , claimed] = await Promise.all([
    query(...buildObjectInsert(object)),
    runForRows(query, listReplaced(object)),
    query<BlobRow>(CLAIM_CONTENT, [...content, facts === undefined ? null : JSON.stringify(facts), expiresAt, id]),
  ]);
  const row = requireRow(claimed);
  if (inserted.length > 0) return toMediaObject(object, fromBlobRow(row));
  const earlier = await findObject(query, toIdentityWhere(object));
  // an earlier object may have other content, and then its upload ends the pin
  if (pin !== undefined && earlier?.blob.sha256 === blob.sha256) query.atEnd([END_PIN, [pin]]);
  return earlier;
}

/** Lists the statements that end the pin and the reservation of the object's upload. */
function listReplaced({ id, blob, pin, upload }: NewObject): readonly SqlStatement[] {
  return [
    ...(pin === undefined ? [] : [[REPLACE_PIN, [pin, id, blob.sha256]] as const]),
    ...(upload === undefined ? [] : [[END_UPLOAD, [upload]] as const]),
  ];
}

function toMediaObject({ id, accountId, taskId, purpose, createdAt, expiresAt }: NewObject, blob: Blob): MediaObject {
  return { id, accountId, taskId, purpose, createdAt, expiresAt, removedAt: undefined, blob };
}

function requireRow<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Unclaimable();
  return row;
}

async function prepareClaim(query: SqlQuery, object: NewObject): Promise<void> {
  const { purpose, accountId, taskId, reference, createdAt } = object;
  // locks the row of the result, so that it is not removed in the meantime
  if (isPicture(purpose))
    requireRow(
      await query(
        `UPDATE objects SET task_id = task_id
        WHERE task_id = $1 AND purpose = 'result' AND removed_at IS NULL RETURNING id`,
        [taskId],
      ),
    );
  if (purpose !== 'staged') return;
  if (taskId !== '')
    // locks the row of the task: a concurrent end of its staging waits, and then finds the object
    requireRow(
      await query(
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

/** Builds the insert of an object, which returns no row if the task has such an object already. */
function buildObjectInsert(object: NewObject): SqlStatement {
  const { id, accountId, taskId, purpose, blob, reference, createdAt, expiresAt } = object;
  return INSERT_OBJECT({
    id,
    account_id: accountId,
    task_id: taskId,
    purpose,
    sha256: blob.sha256,
    reference: reference === '' ? null : reference,
    created_at: createdAt,
    expires_at: expiresAt,
  });
}

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
      if (row === undefined) throw new Error('an upsert returned no row');
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
