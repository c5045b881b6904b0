import type { Money } from './money.ts';

export type Right = 'write' | 'read' | 'none';

/** The way in which the tasks of a token wait for a channel. */
export interface TokenQueue {
  readonly wait: 'none' | 'channels' | 'own_limit';
  /** The best class of its tasks. */
  readonly class: 'interactive' | 'standard' | 'batch';
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[];
  /** The most that it may spend in total; undefined: as much as the account has. */
  readonly limit?: Money;
  /** The amount that it has spent and holds. */
  readonly used: Money;
  readonly limits: {
    readonly createsPerMinute?: number;
    readonly readsPerMinute?: number;
    readonly callsPerMinute?: number;
    readonly inFlight?: number;
  };
  readonly webhooks: Right;
  readonly tokens: Right;
  readonly queue: TokenQueue;
  /** The label of what it orders, unless a request names another one; undefined: none. */
  readonly label?: string;
  /** The last characters of its key; undefined: not known. */
  readonly hint?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly lastChargedAt?: number;
  /** True if the visitor is signed in with it. */
  readonly isOwn: boolean;
  /** True if the visitor may revoke it: a token revokes itself and what it made, directly or through others. */
  readonly canRevoke: boolean;
  /** The id of the token that made it; undefined: an operator or the configuration did. */
  readonly madeByTokenId?: string;
}

/** GET /tokens: the tokens of the account. Needs the right to read tokens. */
export interface TokenList {
  readonly tokens: readonly Token[];
  readonly canChange: boolean;
  readonly models: readonly string[];
  readonly currency: string;
}

/** POST /tokens. A token without `wait` waits for channels, one without `class` in the class standard. */
export interface NewToken extends Partial<TokenQueue> {
  readonly name: string;
  readonly models: readonly string[];
  /** In units of the currency. */
  readonly limit?: string;
  /** Milliseconds since 1970. */
  readonly expiresAt?: number;
  readonly createsPerMinute?: number;
  readonly readsPerMinute?: number;
  readonly callsPerMinute?: number;
  readonly inFlight?: number;
  /** Empty: none. */
  readonly label?: string;
  readonly webhooks: Right;
  readonly tokens: Right;
}

export interface MadeToken {
  readonly token: Token;
  /** Shown this once. */
  readonly key: string;
}

/** DELETE /tokens/{tokenId}, which ends all that it made too with `with_made=true`. */
export interface RevokedToken {
  readonly token: Token;
  /** The number of tokens made by it that were revoked with it. */
  readonly madeRevoked: number;
}
