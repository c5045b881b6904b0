import type { Money } from './money.ts';
import type { Token, TokenQueue } from './tokens.ts';
import type { UsageView } from './usage.ts';

export interface AccountRow {
  readonly id: string;
  readonly balance: Money;
  readonly held: Money;
  readonly free: Money;
  readonly createdAt: number;
}

/** GET /accounts. Query: `order` (`id` or `balance`), `prefix`, `after`. */
export interface AccountList {
  readonly accounts: readonly AccountRow[];
  readonly after?: string;
}

/** GET /accounts/{accountId}. Query as of a usage view. */
export interface AccountView {
  readonly account: AccountRow;
  readonly tokens: readonly Token[];
  readonly credits: readonly {
    readonly at: number;
    readonly amount: Money;
    readonly reason: string;
    readonly actor: string;
  }[];
  readonly usage: UsageView;
  /** True if the visitor may change money and tokens. */
  readonly canChange: boolean;
}

/** POST /accounts/{accountId}/credit. The id makes a repeated click harmless. */
export interface CreditRequest {
  readonly amount: string;
  readonly reason: string;
  readonly requestId: string;
}
// It answers the AccountRow afterwards.
// POST /accounts/{accountId}/tokens takes a NewToken and answers a MadeToken.
// DELETE /accounts/{accountId}/tokens/{tokenId} answers a RevokedToken, as the console of clients does.

/**
 * POST /accounts/{accountId}/tokens/{tokenId}/limits replaces the limits, and how its tasks wait if it says that. It
 * answers the Token.
 */
export interface TokenLimitsRequest extends Partial<TokenQueue> {
  readonly limit?: string;
  readonly createsPerMinute?: number;
  readonly readsPerMinute?: number;
  readonly callsPerMinute?: number;
  readonly inFlight?: number;
  readonly reason: string;
}
