import type { Problem } from '@reelgate/platform/problem';
import type { SqlInteger, SqlQuery, SqlStatement } from '@reelgate/platform/sql/sql';
import type { Nanos } from '../../domain/money.ts';
import { findDisabledReason } from '../../domain/token.ts';
import { tokenDisabled } from '../../billing-refusals.ts';
import { toTime } from '../tokens/token-rows.ts';

/*
 * The cached sums of tokens and accounts. The token's row is always changed before the account's, and both last in
 * their transaction. So two transactions never wait for each other in a circle, and the account's row, where all its
 * tasks meet, is locked for the shortest time.
 */

export interface TokenOwner {
  readonly tokenId: string;
  readonly accountId: string;
}

export type TokenEnd = { readonly revoked_at: SqlInteger | null; readonly expires_at: SqlInteger | null };

const RESERVE_OF_TOKEN = `UPDATE tokens SET used_nanos = used_nanos + $1
  WHERE id = $2 AND account_id = $3 AND (limit_nanos IS NULL OR limit_nanos - used_nanos >= $1)
  RETURNING revoked_at, expires_at, limit_nanos - used_nanos AS left_nanos,
    CASE WHEN made_by_token_id IS NOT NULL THEN 1 WHEN limit_nanos IS NULL THEN 0
      WHEN EXISTS (SELECT 1 FROM tokens AS made WHERE made.made_by_token_id = tokens.id) THEN 1 ELSE 0 END AS is_in_tree`;
const RESERVE_OF_ACCOUNT = `UPDATE accounts SET held_nanos = held_nanos + $1
  WHERE id = $2 AND balance_nanos - held_nanos >= $1 RETURNING balance_nanos - held_nanos AS left_nanos`;
const CHANGE_TOKEN = 'UPDATE tokens SET used_nanos = used_nanos + $1 WHERE id = $2';
const CHANGE_ACCOUNT =
  'UPDATE accounts SET balance_nanos = balance_nanos + $1, held_nanos = held_nanos + $2 WHERE id = $3';

/**
 * `left_nanos` is the amount that the limit of the token leaves, null if it has no limit. `is_in_tree` is set if the
 * token has a maker, or descendants under its limit, so that the limits of trees bound it too.
 */
export type ReservedOfToken = TokenEnd & { readonly left_nanos: SqlInteger | null; readonly is_in_tree: SqlInteger };

/**
 * Adds the amount to the token's used amount, if its limit covers it. Returns undefined if the amount was not reserved.
 */
export async function tryReserveOfToken(
  query: SqlQuery,
  { tokenId, accountId }: TokenOwner,
  amount: Nanos,
): Promise<ReservedOfToken | undefined> {
  const [reserved] = await query<ReservedOfToken>(RESERVE_OF_TOKEN, [amount, tokenId, accountId]);
  return reserved;
}

/**
 * Adds the amount to the account's held amount, if its balance covers it. Returns the remaining balance, or undefined
 * if the amount was not reserved.
 */
export async function tryReserveOfAccount(
  query: SqlQuery,
  accountId: string,
  amount: Nanos,
): Promise<Nanos | undefined> {
  const [reserved] = await query<{ left_nanos: SqlInteger }>(RESERVE_OF_ACCOUNT, [amount, accountId]);
  return reserved === undefined ? undefined : BigInt(reserved.left_nanos);
}

/** Changes the token's used amount without any condition. */
export async function changeToken(query: SqlQuery, tokenId: string, used: Nanos): Promise<void> {
  await query(...buildTokenChange(tokenId, used));
}

/** Changes the account's sums, without any condition. */
export async function changeAccount(query: SqlQuery, accountId: string, change: SumChange): Promise<void> {
  await query(...buildAccountChange(accountId, change));
}

/** A change of the sums of an account. */
interface SumChange {
  readonly balance: Nanos;
  readonly held: Nanos;
}

export function buildTokenChange(tokenId: string, used: Nanos): SqlStatement {
  return [CHANGE_TOKEN, [used, tokenId]];
}

export function buildAccountChange(accountId: string, { balance, held }: SumChange): SqlStatement {
  return [CHANGE_ACCOUNT, [balance, held, accountId]];
}

/** Returns the refusal of a token that has been revoked or has expired, or undefined if the token is valid. */
export function findTokenRefusal(
  { revoked_at: revokedAt, expires_at: expiresAt }: TokenEnd,
  now: number,
): Problem | undefined {
  const because = findDisabledReason({ revokedAt: toTime(revokedAt), expiresAt: toTime(expiresAt) }, now);
  return because === undefined ? undefined : tokenDisabled(because);
}

/*
 * The spending limit of a token bounds what it and all that it made use together. The sum is read while the row of the
 * account is locked, which every reservation of the account changes: no two reservations read it at once, and the rows
 * of the makers need no lock of their own.
 */

/** The limits of the token and of its makers, each less the used amount of its whole tree. */
const LEFT_OF_TREES = `WITH RECURSIVE line (id, limit_nanos, maker_id) AS (
    SELECT id, limit_nanos, made_by_token_id FROM tokens WHERE id = $1
    UNION ALL
    SELECT maker.id, maker.limit_nanos, maker.made_by_token_id FROM line
    JOIN tokens AS maker ON maker.id = line.maker_id
  ), tree (top_id, id, used_nanos) AS (
    SELECT line.id, top.id, top.used_nanos FROM line JOIN tokens AS top ON top.id = line.id
    WHERE line.limit_nanos IS NOT NULL
    UNION ALL
    SELECT tree.top_id, made.id, made.used_nanos FROM tree JOIN tokens AS made ON made.made_by_token_id = tree.id
  )
  SELECT line.id, line.limit_nanos - CAST(SUM(tree.used_nanos) AS BIGINT) AS left_nanos
  FROM line JOIN tree ON tree.top_id = line.id GROUP BY line.id, line.limit_nanos`;

/** The amount that a limit leaves. */
export interface TreeLeft {
  /** The owner of the limit: the token itself, or one of its makers. */
  readonly of: 'token' | 'maker';
  readonly left: Nanos;
}

/**
 * The smallest remainder of the limits of the token and its makers. It is negative if too much is reserved, and
 * undefined if no limit applies.
 */
export async function readTreeLeft(query: SqlQuery, tokenId: string): Promise<TreeLeft | undefined> {
  const rows = await query<{ id: string; left_nanos: SqlInteger }>(LEFT_OF_TREES, [tokenId]);
  let least: TreeLeft | undefined;
  for (const { id, left_nanos: nanos } of rows) {
    const left = BigInt(nanos);
    if (least === undefined || left < least.left) least = { of: id === tokenId ? 'token' : 'maker', left };
  }
  return least;
}
