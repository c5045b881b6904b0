import type { SqlQuery } from '@reelgate/platform/sql';
import type { Hold } from '../domain/hold.ts';
import type { Nanos } from '../domain/money.ts';
import { disabledBecause } from '../domain/token.ts';
import { disabledToken, insufficientQuota, unknownAccount, unknownToken } from '../refusals.ts';

/*
 * The token's row is always changed before the account's, and both last in their transaction: so no two transactions wait for each
 * other in a circle, and the account's row, which all its tasks meet at, is locked for the shortest time.
 */

type Whole = number | bigint;
type Owner = Pick<Hold, 'accountId' | 'tokenId' | 'currency'>;

const RESERVE_OF_TOKEN = `UPDATE tokens SET used_nanos = used_nanos + $1
  WHERE id = $2 AND account_id = $3 AND (limit_nanos IS NULL OR limit_nanos - used_nanos >= $1)
  RETURNING revoked_at, expires_at`;
const RESERVE_OF_ACCOUNT = `UPDATE accounts SET held_nanos = held_nanos + $1
  WHERE id = $2 AND balance_nanos - held_nanos >= $1 RETURNING id`;
const TOKEN_LEFT = 'SELECT limit_nanos, used_nanos FROM tokens WHERE id = $1 AND account_id = $2';
const ACCOUNT_LEFT = 'SELECT balance_nanos, held_nanos FROM accounts WHERE id = $1';
const CHANGE_TOKEN = 'UPDATE tokens SET used_nanos = used_nanos + $1 WHERE id = $2';
const CHANGE_ACCOUNT = 'UPDATE accounts SET balance_nanos = balance_nanos + $1, held_nanos = held_nanos + $2 WHERE id = $3';

/** Holds the amount for a new task, or refuses. */
export async function reserveForNew(query: SqlQuery, owner: Owner, amount: Nanos, now: number): Promise<void> {
  const token = await reserveOfToken(query, owner, amount);
  const disabled = disabledBecause({ revokedAt: optional(token.revoked_at), expiresAt: optional(token.expires_at) }, now);
  if (disabled !== undefined) throw disabledToken(disabled);
  await reserveOfAccount(query, owner, amount);
}

/** Holds so much more for a task under way, whatever has become of its token, or refuses. Less is always possible. */
export async function reserveMore(query: SqlQuery, owner: Owner, amount: Nanos): Promise<void> {
  if (amount <= 0n) {
    await change(query, owner, { balance: 0n, held: amount });
    return;
  }
  await reserveOfToken(query, owner, amount);
  await reserveOfAccount(query, owner, amount);
}

/** Moves without asking: what the books say has happened. */
export async function change(query: SqlQuery, { tokenId, accountId }: Owner, { balance, held }: { balance: Nanos; held: Nanos }): Promise<void> {
  await changeToken(query, tokenId, held - balance);
  await changeAccount(query, accountId, { balance, held });
}

export async function changeToken(query: SqlQuery, tokenId: string, used: Nanos): Promise<void> {
  await query(CHANGE_TOKEN, [used, tokenId]);
}

export async function changeAccount(query: SqlQuery, accountId: string, { balance, held }: { balance: Nanos; held: Nanos }): Promise<void> {
  await query(CHANGE_ACCOUNT, [balance, held, accountId]);
}

async function reserveOfToken(query: SqlQuery, { tokenId, accountId, currency }: Owner, amount: Nanos): Promise<{ revoked_at: Whole | null; expires_at: Whole | null }> {
  const [reserved] = await query<{ revoked_at: Whole | null; expires_at: Whole | null }>(RESERVE_OF_TOKEN, [amount, tokenId, accountId]);
  if (reserved !== undefined) return reserved;
  const [token] = await query<{ limit_nanos: Whole; used_nanos: Whole }>(TOKEN_LEFT, [tokenId, accountId]);
  if (token === undefined) throw unknownToken('token_id');
  throw insufficientQuota({ of: 'token', needed: amount, left: BigInt(token.limit_nanos) - BigInt(token.used_nanos), currency });
}

async function reserveOfAccount(query: SqlQuery, { accountId, currency }: Owner, amount: Nanos): Promise<void> {
  const reserved = await query(RESERVE_OF_ACCOUNT, [amount, accountId]);
  if (reserved.length > 0) return;
  const [account] = await query<{ balance_nanos: Whole; held_nanos: Whole }>(ACCOUNT_LEFT, [accountId]);
  if (account === undefined) throw unknownAccount('account_id');
  throw insufficientQuota({ of: 'account', needed: amount, left: BigInt(account.balance_nanos) - BigInt(account.held_nanos), currency });
}

function optional(value: Whole | null): number | undefined {
  return value === null ? undefined : Number(value);
}
