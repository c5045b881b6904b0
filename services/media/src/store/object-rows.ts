import type { MediaFacts } from '../domain/media-facts.ts';
import { isPicture } from '../domain/media-object.ts';
import type { Blob, MediaObject, Picture, Purpose } from '../domain/media-object.ts';
import type { SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import type { NewObject } from './media-store.ts';

export interface BlobRow extends SqlRow {
  readonly sha256: string;
  readonly storage_key: string;
  readonly bytes: number;
  readonly facts: string | null;
}

interface ObjectRow extends BlobRow {
  readonly id: string;
  readonly account_id: string;
  readonly task_id: string;
  readonly purpose: Purpose;
  readonly created_at: number;
  readonly expires_at: number;
  readonly removed_at: number | null;
}

const SELECT_OBJECTS = `SELECT
  o.id, o.account_id, o.task_id, o.purpose, o.created_at, o.expires_at, o.removed_at, o.sha256,
  COALESCE(b.storage_key, '') AS storage_key, COALESCE(b.bytes, 0) AS bytes, b.facts
  FROM objects o LEFT JOIN blobs b ON b.sha256 = o.sha256`;

export type Where = readonly [string, readonly (string | number)[]];
export const RESULT_OF = (taskId: string): Where => ["o.task_id = $1 AND o.purpose = 'result'", [taskId]];
export const PICTURE_OF = (picture: Picture, taskId: string): Where => [
  `o.task_id = $1 AND o.purpose = '${picture}'`,
  [taskId],
];
export const STAGED_FOR = (accountId: string, taskId: string, reference: string): Where => [
  "o.account_id = $1 AND o.task_id = $2 AND o.reference = $3 AND o.purpose = 'staged'",
  [accountId, taskId, reference],
];

export function toIdentityWhere({ id, purpose, accountId, taskId, reference }: NewObject): Where {
  if (purpose === 'result') return RESULT_OF(taskId);
  if (isPicture(purpose)) return PICTURE_OF(purpose, taskId);
  return purpose === 'staged' && reference !== '' ? STAGED_FOR(accountId, taskId, reference) : ['o.id = $1', [id]];
}

export function fromBlobRow(row: BlobRow): Blob {
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
    purpose: row.purpose,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    removedAt: row.removed_at ?? undefined,
    blob: fromBlobRow(row),
  };
}

export async function findObject(query: SqlQuery, [where, values]: Where): Promise<MediaObject | undefined> {
  const [row] = await query<ObjectRow>(`${SELECT_OBJECTS} WHERE ${where}`, values);
  return row === undefined ? undefined : fromObjectRow(row);
}
