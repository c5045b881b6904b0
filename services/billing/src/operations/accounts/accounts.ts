import { Secret } from '@reelgate/platform/secret';
import type { Account } from '@reelgate/proto/billing/v1/account_service';
import { badField, unknownAccount, requestIdReused } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';
import type { AccountStore } from '../../store/accounts/account-store.ts';
import { amountDetail } from '../../domain/act.ts';
import { newAct } from '../../store/acts/act-store.ts';
import { creditKey, SERVICE_ACTOR, initialCreditKey } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';
import { readHint } from '../../domain/token.ts';
import type { TokenRights } from '../../domain/token.ts';
import { newTokenKey } from '../tokens/token-keys.ts';

/** The account, or a refusal that names the request's field. */
export async function findAccount(
  { accounts }: { readonly accounts: AccountStore },
  id: string,
  field: string,
): Promise<Account> {
  const account = await accounts.find(id);
  if (account === undefined) throw unknownAccount(field);
  return account;
}

export interface AccountsQuery {
  readonly limit: number;
  /** The account before the page, by id. Empty for the first page. */
  readonly after: string;
  readonly prefix: string;
  readonly order: 'id' | 'balance';
}

export interface ListedAccounts {
  readonly accounts: readonly Account[];
  readonly hasMore: boolean;
}

/** Lists a page of the accounts. The order by available balance, ascending, has only a first page. */
export async function listAccounts(
  { accountList }: BillingDeps,
  { limit, after, prefix, order }: AccountsQuery,
): Promise<ListedAccounts> {
  if (order === 'balance' && after !== '')
    throw badField('after', 'must be empty in this order, which has one page only');
  const page = { limit: limit + 1, prefix };
  const found = await (order === 'id' ? accountList.byId({ ...page, after }) : accountList.byFree(page));
  return { accounts: found.slice(0, limit), hasMore: found.length > limit };
}

export interface CreditRequest {
  readonly accountId: string;
  /** A negative amount takes money back, even below zero: a reversed payment is gone. */
  readonly amount: Nanos;
  readonly reason: string;
  readonly actor: string;
  /** Identifies the call, so that a repeat has no effect. Without it, each call counts. */
  readonly requestId: string | undefined;
}

/** Adds money to an account, with a reason and the name of the operator. */
export async function creditAccount(deps: BillingDeps, request: CreditRequest, signal?: AbortSignal): Promise<Account> {
  const { accountId, amount, reason, actor, requestId } = request;
  const { currency } = await findAccount(deps, accountId, 'id');
  const key = creditKey(accountId, requestId ?? deps.newId('credit'));
  const at = deps.clock.now();
  const written = await deps.accounts.credit(
    { key, accountId, currency, amount, reason, actor, at },
    newAct(deps.newId, {
      ...{ at, actor, action: 'account_credited', subject: accountId, reason },
      detail: { amount: amountDetail(amount), currency },
    }),
    signal,
  );
  if (written.amount !== amount) throw requestIdReused();
  return written.account;
}

export interface TokenEntry extends TokenRights {
  /** Undefined if the first start creates a key. */
  readonly key: Secret | undefined;
  readonly name: string;
}

export interface AccountEntry {
  readonly id: string;
  readonly currency: string;
  readonly credit: Nanos;
  readonly tokens: readonly TokenEntry[];
}

export interface NewKey {
  readonly account: string;
  readonly key: Secret;
}

/**
 * Creates the accounts and tokens of the configuration that do not exist yet, and never changes existing ones. Returns
 * the new keys. Without `makeKeys`, a token without a key is left out, because its key could not be shown.
 */
export async function putAccounts(
  deps: BillingDeps,
  entries: readonly AccountEntry[],
  { makeKeys }: { readonly makeKeys: boolean },
): Promise<NewKey[]> {
  const keys: NewKey[] = [];
  for (const entry of entries) {
    const { id: accountId, currency, credit: amount } = entry;
    const isMade = await deps.accounts.create({
      key: initialCreditKey(accountId),
      accountId,
      currency,
      amount,
      reason: 'the credit of the configuration',
      actor: SERVICE_ACTOR,
      at: deps.clock.now(),
    });
    if (isMade) deps.log.info({ account: accountId, currency }, 'an account was made');
    keys.push(...(await putTokens(deps, entry, makeKeys)));
  }
  return keys;
}

async function putTokens(
  deps: BillingDeps,
  { id: account, tokens }: AccountEntry,
  makeKeys: boolean,
): Promise<NewKey[]> {
  const made: NewKey[] = [];
  let keyless = 0;
  for (const entry of tokens) {
    const label = entry.name === '' ? String(keyless) : entry.name;
    if (entry.key === undefined && entry.name === '') keyless += 1;
    if (entry.key !== undefined) {
      await insert(deps, account, entry, { key: entry.key, origin: undefined });
    } else if (makeKeys) {
      const key = new Secret(newTokenKey(deps.random));
      if (await insert(deps, account, entry, { key, origin: `${account}:${label}` })) made.push({ account, key });
    } else {
      deps.log.warn({ account }, 'a token without a key is made at the next start');
    }
  }
  return made;
}

function insert(
  { tokens, hashesOf, newId, clock }: BillingDeps,
  accountId: string,
  { key: _of, ...entry }: TokenEntry,
  { key, origin }: { key: Secret; origin: string | undefined },
): Promise<boolean> {
  const token = {
    ...entry,
    id: newId('token'),
    accountId,
    label: '',
    hint: readHint(key.reveal()),
    madeByTokenId: undefined,
    used: 0n,
    createdAt: clock.now(),
    revokedAt: undefined,
  };
  return tokens.insert({ token, keyHashes: hashesOf(key.reveal()), origin });
}
