import { byRows, inExactChunks, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import type { SqlRunner, SqlValue } from '@reelgate/platform/sql/sql';
import type { TaskIdentity } from '../../domain/task.ts';
import type { BeginResult, NewWork } from '../task-store.ts';

/** Rolls back a create if another call holds its idempotency key. */
class KeyTaken extends Error {
  constructor() {
    super('the idempotency key is taken');
  }
}

/** A create that takes an idempotency key. */
export interface KeyClaim {
  readonly owner: TaskIdentity & { readonly createdAt: number };
  readonly idempotency: NonNullable<NewWork['idempotency']>;
}

const KEY_COLUMNS = ['account_id', 'key', 'fingerprint', 'task_id', 'expires_at'] as const;
const TAKE_KEYS = byRows(
  (rows) => `INSERT INTO idempotency_keys (${KEY_COLUMNS.join(', ')})
    VALUES ${valueRows(rows, KEY_COLUMNS.length, { first: 2 })}
    ON CONFLICT (account_id, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, task_id = excluded.task_id, expires_at = excluded.expires_at
    WHERE idempotency_keys.expires_at <= $1`,
);

/**
 * Takes the idempotency keys of creates, either all or no key. An expired key may be taken again; a live key may not. A
 * key that expires between two of the creates is not free for either of them.
 */
export async function takeKeys(query: SqlRunner, claims: readonly KeyClaim[]): Promise<void> {
  if (claims.length > 0 && !(await tryTakeKeys(query, claims))) throw new KeyTaken();
}

/** Returns whether all keys were free. They are locked in their order, so that two transactions never wait in a circle. */
export async function tryTakeKeys(query: SqlRunner, claims: readonly KeyClaim[]): Promise<boolean> {
  const from = Math.min(...claims.map(({ owner }) => owner.createdAt));
  const taken = await Promise.all(
    inExactChunks(claims.toSorted(compareKeys)).map((chunk) =>
      query.changes(TAKE_KEYS(chunk.length), rowValues([from], chunk, toKeyRow)),
    ),
  );
  return taken.reduce((sum, count) => sum + count, 0) === claims.length;
}

function toKeyRow({ owner, idempotency }: KeyClaim): readonly SqlValue[] {
  return [owner.accountId, idempotency.key, idempotency.fingerprint, owner.id, idempotency.expiresAt];
}

function compareKeys(one: KeyClaim, other: KeyClaim): number {
  return compare(one.owner.accountId, other.owner.accountId) || compare(one.idempotency.key, other.idempotency.key);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The outcome of a create that takes permits: `capped` names the full counter. */
export async function awaitBeginResult(taking: Promise<string | undefined>): Promise<BeginResult> {
  try {
    const capped = await taking;
    return capped === undefined ? 'begun' : { capped };
  } catch (error) {
    if (error instanceof KeyTaken) return 'key_taken';
    throw error;
  }
}
