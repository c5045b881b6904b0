import { DAY_MS, floorToHour } from '../../domain/usage.ts';
import type { Token } from '../../domain/token.ts';
import type { BillingDeps } from '../deps.ts';

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
  /** The last characters of their keys, undefined for any key. */
  readonly hint: string | undefined;
}

/** The tokens of an account, or of every account, the oldest first. */
export async function listTokens(
  { tokens, usage, clock }: BillingDeps,
  { accountId, hint }: TokenQuestion,
): Promise<readonly ListedToken[]> {
  const since = floorToHour(clock.now() - CHARGED_WITHIN_MS);
  const [listed, hours] = await Promise.all([
    hint === undefined ? tokens.list(accountId, TOKENS_MAX) : tokens.listByHint(hint, accountId, HINTED_MAX),
    accountId === undefined ? new Map<string, number>() : usage.lastHours(accountId, since),
  ]);
  return listed.map((token) => ({ token, lastChargedAt: hours.get(token.id) }));
}
