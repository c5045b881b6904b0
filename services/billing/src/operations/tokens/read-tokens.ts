import { runAndCount } from '../../billing-metrics.ts';
import { tokenDisabled, unknownKey, unknownToken } from '../../billing-refusals.ts';
import { findDisabledReason } from '../../domain/token.ts';
import type { Principal, Token } from '../../domain/token.ts';
import type { TokenStore } from '../../store/tokens/token-store.ts';
import type { BillingDeps } from '../deps.ts';
import { DAY_MS, floorToHour } from '../../domain/usage.ts';

/** The form of a key. Any other text is not looked up. */
const KEY = /^[!-~]{8,256}$/;

/** Finds the token of a key, and its makers. Refuses an unknown key, and a revoked or expired token. */
export function authenticate({ tokens, hashesOf, clock, measures }: BillingDeps, key: string): Promise<Principal> {
  return runAndCount(
    measures.authentication,
    async () => {
      const token = KEY.test(key) ? await tokens.findByKeyHashes(hashesOf(key)) : undefined;
      if (token === undefined) throw unknownKey();
      const disabled = findDisabledReason(token, clock.now());
      if (disabled !== undefined) throw tokenDisabled(disabled);
      return { token, makers: await tokens.findMakers(token) };
    },
    () => 'known',
  );
}

/** Finds the token of an id, and its makers. Refuses an unknown token, and a revoked or expired one. */
export async function findPrincipal({ tokens, clock }: BillingDeps, id: string): Promise<Principal> {
  const token = await tokens.find(id);
  if (token === undefined) throw unknownToken('token_id');
  const disabled = findDisabledReason(token, clock.now());
  if (disabled !== undefined) throw tokenDisabled(disabled);
  return { token, makers: await tokens.findMakers(token) };
}

const TOKENS_MAX = 10_000;
const HINTED_MAX = 100;
const CHARGED_WITHIN_MS = 31 * DAY_MS;

export interface ListedToken {
  readonly token: Token;
  /**
   * The hour in which it was last charged. Undefined if it was not charged within the last 31 days, or if the list
   * covers every account.
   */
  readonly lastChargedAt: number | undefined;
}

export interface TokenQuestion {
  /** Undefined for every account. */
  readonly accountId: string | undefined;
  /** Undefined for any token. */
  readonly id: string | undefined;
  /** The last characters of their keys, undefined for any key. */
  readonly hint: string | undefined;
}

/** The tokens of an account, or of every account, the oldest first. */
export async function listTokens(
  { tokens, usage, clock }: BillingDeps,
  question: TokenQuestion,
): Promise<readonly ListedToken[]> {
  const { accountId } = question;
  const since = floorToHour(clock.now() - CHARGED_WITHIN_MS);
  const [listed, hours] = await Promise.all([
    readTokens(tokens, question),
    accountId === undefined ? new Map<string, number>() : usage.lastHours(accountId, since),
  ]);
  return listed.map((token) => ({ token, lastChargedAt: hours.get(token.id) }));
}

async function readTokens(tokens: TokenStore, { accountId, id, hint }: TokenQuestion): Promise<readonly Token[]> {
  if (id !== undefined) {
    const token = await tokens.find(id);
    const isAsked = token !== undefined && [undefined, token.accountId].includes(accountId);
    return isAsked && [undefined, token.hint].includes(hint) ? [token] : [];
  }
  return hint === undefined ? tokens.list(accountId, TOKENS_MAX) : tokens.listByHint(hint, accountId, HINTED_MAX);
}
