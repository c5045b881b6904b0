import type { SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import type { Payer } from '../../domain/hold.ts';
import type { Nanos } from '../../domain/money.ts';
import { insufficientQuota, unknownAccount, unknownToken } from '../../billing-refusals.ts';
import {
  changeAccount,
  changeToken,
  findTokenRefusal,
  tryReserveOfAccount,
  tryReserveOfToken,
  readTreeLeft,
} from './sql-balances.ts';
import type { TokenEnd } from './sql-balances.ts';

const TOKEN_LEFT =
  'SELECT limit_nanos, used_nanos, revoked_at, expires_at FROM tokens WHERE id = $1 AND account_id = $2';
const ACCOUNT_LEFT = 'SELECT balance_nanos, held_nanos FROM accounts WHERE id = $1';

/** Throws the refusal that a new hold would get now, with the same checks in the same order. Does not write. */
export async function assertCovered(
  query: SqlQuery,
  owner: Payer,
  { amount, now }: { readonly amount: Nanos; readonly now: number },
): Promise<void> {
  const { currency } = owner;
  const { left: ofToken = amount, ...token } = await readToken(query, owner);
  const refusal = findTokenRefusal(token, now);
  if (refusal !== undefined) throw refusal;
  if (ofToken < amount) throw insufficientQuota({ of: 'token', needed: amount, left: ofToken, currency });
  const ofAccount = await readAccount(query, owner);
  if (ofAccount < amount) throw insufficientQuota({ of: 'account', needed: amount, left: ofAccount, currency });
  const tree = await readTreeLeft(query, owner.tokenId);
  if (tree !== undefined && tree.left < amount) throw insufficientQuota({ ...tree, needed: amount, currency });
}

/**
 * Adds the amount to the hold of a running task, or refuses. A token that has ended is not refused. A negative amount
 * always succeeds.
 */
export async function reserveMore(query: SqlQuery, owner: Payer, amount: Nanos): Promise<void> {
  if (amount <= 0n) {
    await changeBoth(query, owner, { balance: 0n, held: amount });
    return;
  }
  await reserveOfToken(query, owner, amount);
  await reserveOfAccount(query, owner, amount);
  const tree = await readTreeLeft(query, owner.tokenId);
  if (tree === undefined || tree.left >= 0n) return;
  throw insufficientQuota({ of: tree.of, needed: amount, left: tree.left + amount, currency: owner.currency });
}

/** Changes the sums of token and account without any condition: the ledger has the event already. */
async function changeBoth(
  query: SqlQuery,
  { tokenId, accountId }: Payer,
  { balance, held }: { readonly balance: Nanos; readonly held: Nanos },
): Promise<void> {
  await Promise.all([changeToken(query, tokenId, held - balance), changeAccount(query, accountId, { balance, held })]);
}

async function reserveOfToken(query: SqlQuery, owner: Payer, amount: Nanos): Promise<void> {
  if ((await tryReserveOfToken(query, owner, amount)) !== undefined) return;
  const { left = 0n } = await readToken(query, owner);
  throw insufficientQuota({ of: 'token', needed: amount, left, currency: owner.currency });
}

async function reserveOfAccount(query: SqlQuery, owner: Payer, amount: Nanos): Promise<void> {
  if ((await tryReserveOfAccount(query, owner.accountId, amount)) !== undefined) return;
  const left = await readAccount(query, owner);
  throw insufficientQuota({ of: 'account', needed: amount, left, currency: owner.currency });
}

/** `left` is the amount that the token can still spend, undefined if it has no limit. */
async function readToken(
  query: SqlQuery,
  { tokenId, accountId }: Payer,
): Promise<TokenEnd & { readonly left: Nanos | undefined }> {
  const [token] = await query<TokenEnd & { limit_nanos: SqlInteger | null; used_nanos: SqlInteger }>(TOKEN_LEFT, [
    tokenId,
    accountId,
  ]);
  if (token === undefined) throw unknownToken('token_id');
  const { limit_nanos: limit, used_nanos: used, ...end } = token;
  return { ...end, left: limit === null ? undefined : BigInt(limit) - BigInt(used) };
}

/** Returns the available amount of the account. */
async function readAccount(query: SqlQuery, { accountId }: Payer): Promise<Nanos> {
  const [account] = await query<{ balance_nanos: SqlInteger; held_nanos: SqlInteger }>(ACCOUNT_LEFT, [accountId]);
  if (account === undefined) throw unknownAccount('account_id');
  return BigInt(account.balance_nanos) - BigInt(account.held_nanos);
}
