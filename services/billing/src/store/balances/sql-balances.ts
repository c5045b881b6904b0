import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { Hold } from '../../domain/hold.ts';
import type { Nanos } from '../../domain/money.ts';
import { disabledBecause } from '../../domain/token.ts';
import { disabledToken, insufficientQuota, unknownAccount, unknownToken } from '../../billing-refusals.ts';

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
const TOKEN_LEFT =
  'SELECT limit_nanos, used_nanos, revoked_at, expires_at FROM tokens WHERE id = $1 AND account_id = $2';
const ACCOUNT_LEFT = 'SELECT balance_nanos, held_nanos FROM accounts WHERE id = $1';
const CHANGE_TOKEN = 'UPDATE tokens SET used_nanos = used_nanos + $1 WHERE id = $2';
const CHANGE_ACCOUNT =
  'UPDATE accounts SET balance_nanos = balance_nanos + $1, held_nanos = held_nanos + $2 WHERE id = $3';

/** Holds the amount for a new task, or refuses. */
export async function reserveForNew(query: SqlQuery, owner: Owner, amount: Nanos, now: number): Promise<void> {
  assertEnabled(await reserveOfToken(query, owner, amount), now);
  await reserveOfAccount(query, owner, amount);
}

/** Refuses what `reserveForNew` would refuse, in the same order and words, and holds nothing. */
export async function assertCovered(
  query: SqlQuery,
  owner: Owner,
  { amount, now }: { readonly amount: Nanos; readonly now: number },
): Promise<void> {
  const { currency } = owner;
  const { left: ofToken = amount, ...token } = await readToken(query, owner);
  if (ofToken < amount) throw insufficientQuota({ of: 'token', needed: amount, left: ofToken, currency });
  assertEnabled(token, now);
  const ofAccount = await readAccount(query, owner);
  if (ofAccount < amount) throw insufficientQuota({ of: 'account', needed: amount, left: ofAccount, currency });
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
export async function change(
  query: SqlQuery,
  { tokenId, accountId }: Owner,
  { balance, held }: { balance: Nanos; held: Nanos },
): Promise<void> {
  await changeToken(query, tokenId, held - balance);
  await changeAccount(query, accountId, { balance, held });
}

export async function changeToken(query: SqlQuery, tokenId: string, used: Nanos): Promise<void> {
  await query(CHANGE_TOKEN, [used, tokenId]);
}

export async function changeAccount(
  query: SqlQuery,
  accountId: string,
  { balance, held }: { balance: Nanos; held: Nanos },
): Promise<void> {
  await query(CHANGE_ACCOUNT, [balance, held, accountId]);
}

type TokenEnd = { revoked_at: Whole | null; expires_at: Whole | null };

function assertEnabled({ revoked_at: revokedAt, expires_at: expiresAt }: TokenEnd, now: number): void {
  const disabled = disabledBecause({ revokedAt: optional(revokedAt), expiresAt: optional(expiresAt) }, now);
  if (disabled !== undefined) throw disabledToken(disabled);
}

async function reserveOfToken(query: SqlQuery, owner: Owner, amount: Nanos): Promise<TokenEnd> {
  const [reserved] = await query<TokenEnd>(RESERVE_OF_TOKEN, [amount, owner.tokenId, owner.accountId]);
  if (reserved !== undefined) return reserved;
  const { left = 0n } = await readToken(query, owner);
  throw insufficientQuota({ of: 'token', needed: amount, left, currency: owner.currency });
}

async function reserveOfAccount(query: SqlQuery, owner: Owner, amount: Nanos): Promise<void> {
  const reserved = await query(RESERVE_OF_ACCOUNT, [amount, owner.accountId]);
  if (reserved.length > 0) return;
  throw insufficientQuota({
    of: 'account',
    needed: amount,
    left: await readAccount(query, owner),
    currency: owner.currency,
  });
}

/** `left` is what the token may still spend; undefined: it has no limit. */
async function readToken(
  query: SqlQuery,
  { tokenId, accountId }: Owner,
): Promise<TokenEnd & { readonly left: Nanos | undefined }> {
  const [token] = await query<TokenEnd & { limit_nanos: Whole | null; used_nanos: Whole }>(TOKEN_LEFT, [
    tokenId,
    accountId,
  ]);
  if (token === undefined) throw unknownToken('token_id');
  const { limit_nanos: limit, used_nanos: used, ...end } = token;
  return { ...end, left: limit === null ? undefined : BigInt(limit) - BigInt(used) };
}

/** What the account has available. */
async function readAccount(query: SqlQuery, { accountId }: Owner): Promise<Nanos> {
  const [account] = await query<{ balance_nanos: Whole; held_nanos: Whole }>(ACCOUNT_LEFT, [accountId]);
  if (account === undefined) throw unknownAccount('account_id');
  return BigInt(account.balance_nanos) - BigInt(account.held_nanos);
}

function optional(value: Whole | null): number | undefined {
  return value === null ? undefined : Number(value);
}
