import type { Problem } from '@reelgate/platform/problem';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { Call } from '../../domain/call.ts';
import type { Nanos } from '../../domain/money.ts';
import { insufficientQuota, unknownAccount, unknownToken } from '../../billing-refusals.ts';
import { groupsBy, sumOf } from './groups.ts';
import { changeAccount, changeToken, refusalOfEnded, tryReserveOfAccount, tryReserveOfToken } from './sql-balances.ts';
import type { TokenEnd, Whole } from './sql-balances.ts';

/*
 * The money of a batch of new calls. As for a single hold, tokens come before accounts, each in the order of their ids,
 * so that two batches never wait for each other in a circle. One conditional update reserves the sum of a group. If the
 * sum does not fit, the row is locked, and the calls are decided one by one, in the order of the batch.
 */

const LOCK_TOKEN = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 AND account_id = $2
  RETURNING revoked_at, expires_at, COALESCE(limit_nanos - used_nanos, 0) AS left_nanos`;
const LOCK_ACCOUNT =
  'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1 RETURNING balance_nanos - held_nanos AS left_nanos';

/** Reserves what each call needs. Gives the refusals by call id. */
export async function reserveForCalls(
  query: SqlQuery,
  calls: readonly Call[],
  now: number,
): Promise<ReadonlyMap<string, Problem>> {
  const refusals = new Map<string, Problem>();
  for (const group of byToken(calls)) await reserveOfToken(query, group, { now, refusals });
  const covered = calls.filter(({ id }) => !refusals.has(id));
  for (const group of groupsBy(covered, ({ accountId }) => accountId)) await reserveOfAccount(query, group, refusals);
  return refusals;
}

/** By token and account, in the order of the tokens. The request names both, so they may not belong together. */
function byToken(calls: readonly Call[]): Call[][] {
  const groups = groupsBy(calls, ({ accountId }) => accountId).flatMap((group) =>
    groupsBy(group, ({ tokenId }) => tokenId),
  );
  return groups.sort(([left], [right]) => ((left?.tokenId ?? '') < (right?.tokenId ?? '') ? -1 : 1));
}

async function reserveOfToken(
  query: SqlQuery,
  group: readonly Call[],
  { now, refusals }: { readonly now: number; readonly refusals: Map<string, Problem> },
): Promise<void> {
  const [owner = { tokenId: '', accountId: '' }] = group;
  const { tokenId, accountId } = owner;
  const total = sumOf(group, ({ amount }) => amount);
  const reserved = await tryReserveOfToken(query, owner, total);
  if (reserved !== undefined) {
    const disabled = refusalOfEnded(reserved, now);
    if (disabled === undefined) return;
    refuseAll(group, refusals, disabled);
    await changeToken(query, tokenId, -total);
    return;
  }
  const [token] = await query<TokenEnd & { left_nanos: Whole }>(LOCK_TOKEN, [tokenId, accountId]);
  const refusal = token === undefined ? unknownToken('token_id') : refusalOfEnded(token, now);
  if (token === undefined || refusal !== undefined) {
    refuseAll(group, refusals, refusal ?? unknownToken('token_id'));
    return;
  }
  await changeToken(query, tokenId, fitting(group, BigInt(token.left_nanos), { of: 'token', refusals }));
}

async function reserveOfAccount(
  query: SqlQuery,
  group: readonly Call[],
  refusals: Map<string, Problem>,
): Promise<void> {
  const [{ accountId } = { accountId: '' }] = group;
  const total = sumOf(group, ({ amount }) => amount);
  if (await tryReserveOfAccount(query, accountId, total)) return;
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
}

/** Gives the sum of the calls that fit into what is left, in their order. Refuses the others. */
function fitting(
  group: readonly Call[],
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

function refuseAll(group: readonly Call[], refusals: Map<string, Problem>, refusal: Problem): void {
  for (const { id } of group) refusals.set(id, refusal);
}
