import type { SqlQuery } from '@reelgate/platform/sql/sql';
import { countUp } from './sql-in-flight.ts';
import type { Begun, NewTask } from '../task-store.ts';

/** Rolls a transaction back whose outcome is an answer, not a fault. */
export class RolledBack extends Error {
  readonly outcome: Begun;

  constructor(outcome: Begun) {
    super('rolled back');
    this.outcome = outcome;
  }
}

/** Takes an idempotency key for a create. An expired key may be taken again; a live key may not. */
export async function takeKey(
  query: SqlQuery,
  owner: Pick<NewTask, 'id' | 'accountId' | 'createdAt'>,
  { key, fingerprint, expiresAt }: NonNullable<NewTask['idempotency']>,
): Promise<void> {
  const rows = await query(
    `INSERT INTO idempotency_keys (account_id, key, fingerprint, task_id, expires_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = $3, task_id = $4, expires_at = $5
     WHERE idempotency_keys.expires_at <= $6 RETURNING task_id`,
    [owner.accountId, key, fingerprint, owner.id, expiresAt, owner.createdAt],
  );
  if (rows.length === 0) throw new RolledBack('key_taken');
}

/** Counts one more in each counter, or rolls the transaction back. */
export async function takeCaps(query: SqlQuery, caps: NewTask['caps']): Promise<void> {
  for (const { scope, limit } of caps) {
    if (!(await countUp(query, scope, limit))) throw new RolledBack({ capped: scope });
  }
}
