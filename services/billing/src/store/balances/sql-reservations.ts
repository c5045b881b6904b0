import type { Problem } from '@reelgate/platform/problem';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { Call } from '../../domain/call.ts';
import type { Nanos } from '../../domain/money.ts';
import { disabledBecause } from '../../domain/token.ts';
import { disabledToken, insufficientQuota, unknownAccount, unknownToken } from '../../billing-refusals.ts';

/*
 * The money of a batch of new calls. As for a single hold, tokens come before accounts, and each of them in the order of their ids: no two
 * batches wait for each other in a circle. The whole of a group is moved by one conditional update. Where it does not fit, the row is
 * locked, and each call is asked for by itself, in the order of the batch.
 */

type Whole = number | bigint;
type TokenRow = { revoked_at: Whole | null; expires_at: Whole | null };

const RESERVE_OF_TOKEN = `UPDATE tokens SET used_nanos = used_nanos + $1
  WHERE id = $2 AND account_id = $3 AND (limit_nanos IS NULL OR limit_nanos - used_nanos >= $1) RETURNING revoked_at, expires_at`;
const LOCK_TOKEN = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 AND account_id = $2
  RETURNING revoked_at, expires_at, COALESCE(limit_nanos - used_nanos, 0) AS left_nanos`;
const RESERVE_OF_ACCOUNT =
  'UPDATE accounts SET held_nanos = held_nanos + $1 WHERE id = $2 AND balance_nanos - held_nanos >= $1 RETURNING id';
const LOCK_ACCOUNT =
  'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1 RETURNING balance_nanos - held_nanos AS left_nanos';
const CHANGE_TOKEN = 'UPDATE tokens SET used_nanos = used_nanos + $1 WHERE id = $2';
const CHANGE_ACCOUNT = 'UPDATE accounts SET held_nanos = held_nanos + $1 WHERE id = $2';

/** Holds what each of the calls needs, or says why not. */
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

/** By token and account, which are the caller's word, in the order of the tokens. */
function byToken(calls: readonly Call[]): Call[][] {
  const groups = groupsBy(calls, ({ accountId }) => accountId).flatMap((group) =>
    groupsBy(group, ({ tokenId }) => tokenId),
  );
  return groups.sort(([left], [right]) => ((left?.tokenId ?? '') < (right?.tokenId ?? '') ? -1 : 1));
}

/** Groups in the order of their names; within each the order of the calls. */
export function groupsBy<T>(items: readonly T[], nameOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const name = nameOf(item);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
}

export function sumOf<T>(items: readonly T[], amountOf: (item: T) => Nanos): Nanos {
  let sum = 0n;
  for (const item of items) sum += amountOf(item);
  return sum;
}

async function reserveOfToken(
  query: SqlQuery,
  group: readonly Call[],
  { now, refusals }: { now: number; refusals: Map<string, Problem> },
): Promise<void> {
  const [{ tokenId, accountId } = { tokenId: '', accountId: '' }] = group;
  const total = sumOf(group, ({ amount }) => amount);
  const [reserved] = await query<TokenRow>(RESERVE_OF_TOKEN, [total, tokenId, accountId]);
  if (reserved !== undefined) {
    const disabled = disabledOf(reserved, now);
    if (disabled === undefined) return;
    refuseAll(group, refusals, disabled);
    await query(CHANGE_TOKEN, [-total, tokenId]);
    return;
  }
  const [token] = await query<TokenRow & { left_nanos: Whole }>(LOCK_TOKEN, [tokenId, accountId]);
  const refusal = token === undefined ? unknownToken('token_id') : disabledOf(token, now);
  if (token === undefined || refusal !== undefined) {
    refuseAll(group, refusals, refusal ?? unknownToken('token_id'));
    return;
  }
  await query(CHANGE_TOKEN, [fitting(group, BigInt(token.left_nanos), { of: 'token', refusals }), tokenId]);
}

async function reserveOfAccount(
  query: SqlQuery,
  group: readonly Call[],
  refusals: Map<string, Problem>,
): Promise<void> {
  const [{ accountId } = { accountId: '' }] = group;
  const [reserved] = await query(RESERVE_OF_ACCOUNT, [sumOf(group, ({ amount }) => amount), accountId]);
  if (reserved !== undefined) return;
  const [account] = await query<{ left_nanos: Whole }>(LOCK_ACCOUNT, [accountId]);
  if (account === undefined) refuseAll(group, refusals, unknownAccount('account_id'));
  else
    await query(CHANGE_ACCOUNT, [fitting(group, BigInt(account.left_nanos), { of: 'account', refusals }), accountId]);
  for (const refused of groupsBy(
    group.filter(({ id }) => refusals.has(id)),
    ({ tokenId }) => tokenId,
  )) {
    await query(CHANGE_TOKEN, [-sumOf(refused, ({ amount }) => amount), refused[0]?.tokenId ?? '']);
  }
}

/** Gives what the calls need that fit into what is left, one after another, and refuses the others. */
function fitting(
  group: readonly Call[],
  available: Nanos,
  { of, refusals }: { of: 'account' | 'token'; refusals: Map<string, Problem> },
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

function disabledOf({ revoked_at: revokedAt, expires_at: expiresAt }: TokenRow, now: number): Problem | undefined {
  const because = disabledBecause(
    {
      revokedAt: revokedAt === null ? undefined : Number(revokedAt),
      expiresAt: expiresAt === null ? undefined : Number(expiresAt),
    },
    now,
  );
  return because === undefined ? undefined : disabledToken(because);
}
