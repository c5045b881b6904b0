import type { Problem } from '@reelgate/platform/problem';
import type { SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import type { Payer } from '../../domain/hold.ts';
import type { Nanos } from '../../domain/money.ts';
import type { Remainder } from '@reelgate/proto/billing/v1/call_service';
import { insufficientQuota, unknownAccount, unknownToken } from '../../billing-refusals.ts';
import type { Shortage } from '../../billing-refusals.ts';
import { groupsBy, sumAmounts } from './groups.ts';
import {
  changeAccount,
  changeToken,
  findTokenRefusal,
  tryReserveOfAccount,
  tryReserveOfToken,
  readTreeLeft,
} from './sql-balances.ts';
import type { TokenEnd } from './sql-balances.ts';

/*
 * The money of a batch of new holds or calls. Tokens come before accounts, each in the order of their ids,
 * so that two batches never wait for each other in a circle. The limits of makers come last, under the accounts' locks. One conditional update reserves the sum of a group. If the
 * sum does not fit, the row is locked, and the calls are decided one by one, in the order of the batch.
 */

/** The needs of a call, or of the hold of a task. */
interface Reservation extends Payer {
  readonly id: string;
  readonly amount: Nanos;
}

const LOCK_TOKEN = `UPDATE tokens SET used_nanos = used_nanos WHERE id = $1 AND account_id = $2
  RETURNING revoked_at, expires_at, COALESCE(limit_nanos - used_nanos, 0) AS left_nanos`;
const LOCK_ACCOUNT =
  'UPDATE accounts SET held_nanos = held_nanos WHERE id = $1 RETURNING balance_nanos - held_nanos AS left_nanos';

export interface ReservedForCalls {
  /** By call id. */
  readonly refusals: ReadonlyMap<string, Problem>;
  /** Of each token that had all its calls reserved. */
  readonly remainders: readonly Remainder[];
}

/** Reserves the amount of each call. */
export async function reserveForCalls(
  query: SqlQuery,
  calls: readonly Reservation[],
  now: number,
): Promise<ReservedForCalls> {
  const refusals = new Map<string, Problem>();
  const tokens: ReservedToken[] = [];
  for (const group of groupByToken(calls)) {
    const reserved = await reserveOfToken(query, group, { now, refusals });
    if (reserved !== undefined) tokens.push(reserved);
  }
  const covered = calls.filter(({ id }) => !refusals.has(id));
  const accounts = new Map<string, Nanos>();
  for (const group of groupsBy(covered, ({ accountId }) => accountId)) {
    const [{ accountId } = { accountId: '' }] = group;
    const left = await reserveOfAccount(query, accountId, group, refusals);
    if (left !== undefined) accounts.set(accountId, left);
  }
  const remainders: Remainder[] = [];
  for (const { group, isCovered, isInTree, ofToken: left } of tokens) {
    const [{ accountId, tokenId } = { accountId: '', tokenId: '' }] = group;
    const tree = isInTree ? await enforceTreeLimits(query, group, refusals) : { isCovered: true, left };
    const accountNanos = accounts.get(accountId);
    if (accountNanos === undefined || !isCovered || !tree.isCovered) continue;
    const ofToken = tree.left === undefined ? {} : { tokenNanos: tree.left };
    remainders.push({ $typeName: 'reelgate.billing.v1.Remainder', accountId, tokenId, accountNanos, ...ofToken });
  }
  return { refusals, remainders };
}

/**
 * Reserves the sums of all tokens and accounts, with all statements sent together. Returns false if a sum is not
 * covered, and the transaction has to be rolled back.
 */
export async function reserveAtOnce(
  query: SqlQuery,
  reservations: readonly Reservation[],
  now: number,
): Promise<boolean> {
  const sum = (group: readonly Reservation[]): Nanos => sumAmounts(group, ({ amount }) => amount);
  const ofTokens = groupByToken(reservations).map(async (group) => {
    const [owner = { tokenId: '', accountId: '' }] = group;
    const reserved = await tryReserveOfToken(query, owner, sum(group));
    return reserved !== undefined && findTokenRefusal(reserved, now) === undefined ? { ...owner, reserved } : undefined;
  });
  const ofAccounts = groupsBy(reservations, ({ accountId }) => accountId).map((group) =>
    tryReserveOfAccount(query, group[0]?.accountId ?? '', sum(group)),
  );
  const [tokens, accounts] = await Promise.all([Promise.all(ofTokens), Promise.all(ofAccounts)]);
  if (accounts.includes(undefined)) return false;
  for (const token of tokens) {
    if (token === undefined) return false;
    const isInTree = Number(token.reserved.is_in_tree) === 1;
    const tree = isInTree ? await readTreeLeft(query, token.tokenId) : undefined;
    if (tree !== undefined && tree.left < 0n) return false;
  }
  return true;
}

/** The calls of a token, some of which may be refused. */
interface ReservedToken {
  readonly group: readonly Reservation[];
  /** True if the limit of the token covers every call. */
  readonly isCovered: boolean;
  /** True if the limits of trees bound the token too. */
  readonly isInTree: boolean;
  readonly ofToken: Nanos | undefined;
}

/** Takes back the part of the token's reservation that exceeds the limits of its makers and of its own tree. */
async function enforceTreeLimits(
  query: SqlQuery,
  group: readonly Reservation[],
  refusals: Map<string, Problem>,
): Promise<{ readonly isCovered: boolean; readonly left: Nanos | undefined }> {
  const reserved = group.filter(({ id }) => !refusals.has(id));
  const [first] = reserved;
  const tree = first && (await readTreeLeft(query, first.tokenId));
  if (first === undefined || tree === undefined || tree.left >= 0n) return { isCovered: true, left: tree?.left };
  const total = sumAmounts(reserved, ({ amount }) => amount);
  const excess = total - takeFitting(reserved, tree.left + total, { of: tree.of, refusals });
  await changeToken(query, first.tokenId, -excess);
  await changeAccount(query, first.accountId, { balance: 0n, held: -excess });
  return { isCovered: false, left: undefined };
}

/** By token and account, in the order of the tokens. The request names both, so they may not belong together. */
function groupByToken(calls: readonly Reservation[]): Reservation[][] {
  const groups = groupsBy(calls, ({ accountId }) => accountId).flatMap((group) =>
    groupsBy(group, ({ tokenId }) => tokenId),
  );
  return groups.sort(([left], [right]) => ((left?.tokenId ?? '') < (right?.tokenId ?? '') ? -1 : 1));
}

/** Returns undefined if every call is refused. */
async function reserveOfToken(
  query: SqlQuery,
  group: readonly Reservation[],
  { now, refusals }: { readonly now: number; readonly refusals: Map<string, Problem> },
): Promise<ReservedToken | undefined> {
  const [owner = { tokenId: '', accountId: '' }] = group;
  const { tokenId, accountId } = owner;
  const total = sumAmounts(group, ({ amount }) => amount);
  const reserved = await tryReserveOfToken(query, owner, total);
  if (reserved !== undefined) {
    const disabled = findTokenRefusal(reserved, now);
    const { left_nanos: left, is_in_tree: isInTree } = reserved;
    const ofToken = left === null ? undefined : BigInt(left);
    if (disabled === undefined) return { group, isCovered: true, isInTree: Number(isInTree) === 1, ofToken };
    refuseAll(group, refusals, disabled);
    await changeToken(query, tokenId, -total);
    return undefined;
  }
  const [token] = await query<TokenEnd & { left_nanos: SqlInteger }>(LOCK_TOKEN, [tokenId, accountId]);
  const refusal = token === undefined ? unknownToken('token_id') : findTokenRefusal(token, now);
  if (token === undefined || refusal !== undefined) {
    refuseAll(group, refusals, refusal ?? unknownToken('token_id'));
    return undefined;
  }
  await changeToken(query, tokenId, takeFitting(group, BigInt(token.left_nanos), { of: 'token', refusals }));
  return { group, isCovered: false, isInTree: true, ofToken: undefined };
}

/** Returns the account's remaining balance, if it covers every call. */
async function reserveOfAccount(
  query: SqlQuery,
  accountId: string,
  group: readonly Reservation[],
  refusals: Map<string, Problem>,
): Promise<Nanos | undefined> {
  const total = sumAmounts(group, ({ amount }) => amount);
  const covering = await tryReserveOfAccount(query, accountId, total);
  if (covering !== undefined) return covering;
  const [account] = await query<{ left_nanos: SqlInteger }>(LOCK_ACCOUNT, [accountId]);
  if (account === undefined) refuseAll(group, refusals, unknownAccount('account_id'));
  else {
    const held = takeFitting(group, BigInt(account.left_nanos), { of: 'account', refusals });
    await changeAccount(query, accountId, { balance: 0n, held });
  }
  for (const refused of groupsBy(
    group.filter(({ id }) => refusals.has(id)),
    ({ tokenId }) => tokenId,
  )) {
    await changeToken(query, refused[0]?.tokenId ?? '', -sumAmounts(refused, ({ amount }) => amount));
  }
  return undefined;
}

/** Returns the sum of the calls that fit into the remaining amount, in their order. Refuses the others. */
function takeFitting(
  group: readonly Reservation[],
  available: Nanos,
  { of, refusals }: { readonly of: Shortage['of']; readonly refusals: Map<string, Problem> },
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
