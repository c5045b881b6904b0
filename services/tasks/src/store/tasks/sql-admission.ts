import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { TaskIdentity } from '../../domain/task.ts';
import type { BeginResult, NewWork } from '../task-store.ts';

/** Rolls a create back whose idempotency key another call holds. */
class KeyTaken extends Error {
  constructor() {
    super('the idempotency key is taken');
  }
}

/** Takes an idempotency key for a create. An expired key may be taken again; a live key may not. */
export async function takeKey(
  query: SqlQuery,
  owner: TaskIdentity & { readonly createdAt: number },
  { key, fingerprint, expiresAt }: NonNullable<NewWork['idempotency']>,
): Promise<void> {
  const rows = await query(
    `INSERT INTO idempotency_keys (account_id, key, fingerprint, task_id, expires_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = $3, task_id = $4, expires_at = $5
     WHERE idempotency_keys.expires_at <= $6 RETURNING task_id`,
    [owner.accountId, key, fingerprint, owner.id, expiresAt, owner.createdAt],
  );
  if (rows.length === 0) throw new KeyTaken();
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
