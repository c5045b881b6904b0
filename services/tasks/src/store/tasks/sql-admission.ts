import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { TaskIdentity } from '../../domain/task.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';

import type { BeginResult, NewWork } from '../task-store.ts';

/** Rolls a create back whose idempotency key another call holds. */
class KeyTaken extends Error {
  constructor() {
    super('the idempotency key is taken');
  }
}

const TAKE_KEY = buildStatement<'accountId' | 'key' | 'fingerprint' | 'taskId' | 'expiresAt' | 'createdAt'>(
  (of) => `INSERT INTO idempotency_keys (account_id, key, fingerprint, task_id, expires_at)
    VALUES (${of('accountId')}, ${of('key')}, ${of('fingerprint')}, ${of('taskId')}, ${of('expiresAt')})
    ON CONFLICT (account_id, key) DO UPDATE
      SET fingerprint = excluded.fingerprint, task_id = excluded.task_id, expires_at = excluded.expires_at
    WHERE idempotency_keys.expires_at <= ${of('createdAt')} RETURNING task_id`,
);

/** Takes an idempotency key for a create. An expired key may be taken again; a live key may not. */
export async function takeKey(
  query: SqlQuery,
  owner: TaskIdentity & { readonly createdAt: number },
  idempotency: NonNullable<NewWork['idempotency']>,
): Promise<void> {
  if (!(await tryTakeKey(query, owner, idempotency))) throw new KeyTaken();
}

/** Returns whether the key was free. */
export async function tryTakeKey(
  query: SqlQuery,
  { id: taskId, accountId, createdAt }: TaskIdentity & { readonly createdAt: number },
  { key, fingerprint, expiresAt }: NonNullable<NewWork['idempotency']>,
): Promise<boolean> {
  const rows = await query(...TAKE_KEY({ accountId, key, fingerprint, taskId, expiresAt, createdAt }));
  return rows.length > 0;
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
