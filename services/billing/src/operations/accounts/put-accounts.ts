import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import { SERVICE_ACTOR, initialCreditKey } from '../../domain/ledger.ts';
import type { Nanos } from '../../domain/money.ts';
import { readHint } from '../../domain/token.ts';
import type { TokenLimits, TokenQueue, TokenRight, WebhookRight } from '../../domain/token.ts';
import type { BillingDeps } from '../deps.ts';
import { KEY_BYTES, KEY_PREFIX } from '../tokens/create-token.ts';

export interface TokenEntry {
  /** Undefined if the first start creates a key. */
  readonly key: Secret | undefined;
  readonly name: string;
  readonly models: readonly string[];
  readonly limit: Nanos | undefined;
  readonly expiresAt: number | undefined;
  readonly limits: TokenLimits;
  readonly webhooks: WebhookRight;
  readonly tokens: TokenRight;
  readonly queue: TokenQueue;
  readonly confirmAbove?: Nanos | undefined;
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
      const key = new Secret(newKey(KEY_PREFIX, KEY_BYTES, deps.random));
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
  entry: TokenEntry,
  { key, origin }: { key: Secret; origin: string | undefined },
): Promise<boolean> {
  const { name, models, limit, expiresAt, limits, webhooks, tokens: right, queue, confirmAbove } = entry;
  const token = {
    id: newId('token'),
    accountId,
    name,
    label: '',
    hint: readHint(key.reveal()),
    models,
    limit,
    limits,
    webhooks,
    tokens: right,
    queue,
    confirmAbove,
    madeByTokenId: undefined,
    used: 0n,
    createdAt: clock.now(),
    expiresAt,
    revokedAt: undefined,
  };
  return tokens.insert({ token, keyHashes: hashesOf(key.reveal()), origin });
}
