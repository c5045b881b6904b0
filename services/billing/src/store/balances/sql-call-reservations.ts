import type { Problem } from '@reelgate/platform/problem';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { Call } from '../../domain/call.ts';
import type { Nanos } from '../../domain/money.ts';
import type { Remainder } from '../../domain/remainder.ts';
import { insufficientQuota, unknownAccount, unknownToken } from '../../billing-refusals.ts';
import { groupsBy, sumOf } from './groups.ts';
import { changeAccount, changeToken, refusalOfEnded, tryReserveOfAccount, tryReserveOfToken } from './sql-balances.ts';
import type { TokenEnd, Whole } from './sql-balances.ts';

/*
 * The money of a batch of new holds or calls. Tokens come before accounts, each in the order of their ids,
 * so that two batches never wait for each other in a circle. One conditional update reserves the sum of a group. If the
 * sum does not fit, the row is locked, and the calls are decided one by one, in the order of the batch.
 */

/** What a call, or the hold of a task, needs. */
type Reservation = Pick<Call, 'id' | 'accountId' | 'tokenId' | 'amount' | 'currency'>;

const LOCK_TOKEN = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 AND account_id = $2
  RETURNING revoked_at, expires_at, COALESCE(limit_nanos - used_nanos, 0) AS left_nanos`;
const LOCK_ACCOUNT =
  'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1 RETURNING balance_nanos - held_nanos AS left_nanos';

export interface ReservedForCalls {
  /** By call id. */
  readonly refusals: ReadonlyMap<string, Problem>;
  /** Of each token whose calls are all reserved. */
  readonly remainders: readonly Remainder[];
}

/** Reserves what each call needs. */
export async function reserveForCalls(
  query: SqlQuery,
  calls: readonly Reservation[],
  now: number,
): Promise<ReservedForCalls> {
  const refusals = new Map<string, Problem>();
  const tokens: Omit<Remainder, 'ofAccount'>[] = [];
  for (const group of byToken(calls)) {
    const left = await reserveOfToken(query, group, { now, refusals });
    if (left !== undefined) tokens.push(left);
  }
  const covered = calls.filter(({ id }) => !refusals.has(id));
  const accounts = new Map<string, Nanos>();
  for (const group of groupsBy(covered, ({ accountId }) => accountId)) {
    const [{ accountId } = { accountId: '' }] = group;
    const left = await reserveOfAccount(query, accountId, group, refusals);
    if (left !== undefined) accounts.set(accountId, left);
  }
  const remainders = tokens.flatMap((token) => {
    const ofAccount = accounts.get(token.accountId);
    return ofAccount === undefined ? [] : [{ ...token, ofAccount }];
  });
  return { refusals, remainders };
}

/** By token and account, in the order of the tokens. The request names both, so they may not belong together. */
function byToken(calls: readonly Reservation[]): Reservation[][] {
  const groups = groupsBy(calls, ({ accountId }) => accountId).flatMap((group) =>
    groupsBy(group, ({ tokenId }) => tokenId),
  );
  return groups.sort(([left], [right]) => ((left?.tokenId ?? '') < (right?.tokenId ?? '') ? -1 : 1));
}

/** Gives what the token has left, if it covers every call. */
async function reserveOfToken(
  query: SqlQuery,
  group: readonly Reservation[],
  { now, refusals }: { readonly now: number; readonly refusals: Map<string, Problem> },
): Promise<Omit<Remainder, 'ofAccount'> | undefined> {
  const [owner = { tokenId: '', accountId: '' }] = group;
  const { tokenId, accountId } = owner;
  const total = sumOf(group, ({ amount }) => amount);
  const reserved = await tryReserveOfToken(query, owner, total);
  if (reserved !== undefined) {
    const disabled = refusalOfEnded(reserved, now);
    const { left_nanos: left } = reserved;
    if (disabled === undefined) return { tokenId, accountId, ofToken: left === null ? undefined : BigInt(left) };
    refuseAll(group, refusals, disabled);
    await changeToken(query, tokenId, -total);
    return undefined;
  }
  const [token] = await query<TokenEnd & { left_nanos: Whole }>(LOCK_TOKEN, [tokenId, accountId]);
  const refusal = token === undefined ? unknownToken('token_id') : refusalOfEnded(token, now);
  if (token === undefined || refusal !== undefined) {
    refuseAll(group, refusals, refusal ?? unknownToken('token_id'));
    return undefined;
  }
  await changeToken(query, tokenId, fitting(group, BigInt(token.left_nanos), { of: 'token', refusals }));
  return undefined;
}

/** Gives what the account has left, if it covers every call. */
async function reserveOfAccount(
  query: SqlQuery,
  accountId: string,
  group: readonly Reservation[],
  refusals: Map<string, Problem>,
): Promise<Nanos | undefined> {
  const total = sumOf(group, ({ amount }) => amount);
  const covering = await tryReserveOfAccount(query, accountId, total);
  if (covering !== undefined) return covering;
  const [account] = await query<{ left_nanos: Whole }>(LOCK_ACCOUNT, [accountId]);
  if (account === undefined) refuseAll(group, refusals, unknownAccount('account_id'));
  else {
    const held = fitting(group, BigInt(account.left_nanos), { of: 'account', refusals });
    await changeAccount(query, accountId, { balance: 0n, held });
  }
  for (const refused of groupsBy(
    group.filter(({ id }) => refusals.has(id)),
    ({ tokenId }) => tokenId,
  )) {
    await changeToken(query, refused[0]?.tokenId ?? '', -sumOf(refused, ({ amount }) => amount));
  }
  return undefined;
}

/** Gives the sum of the calls that fit into what is left, in their order. Refuses the others. */
function fitting(
  group: readonly Reservation[],
  available: Nanos,
  { of, refusals }: { readonly of: 'account' | 'token'; readonly refusals: Map<string, Problem> },
): Nanos {
  let left = available;
  for (const { id, amount, currency } of group) {
    if (amount <= left) left -= amount;
    else refusals.set(id, insufficientQuota({ of, needed: amount, left, currency }));
  }
  return available - left;
}

function refuseAll(group: readonly Reservation[], refusals: Map<string, Problem>, refusal: Problem): void {
  for (const { id } of group) refusals.set(id, refusal);
}
