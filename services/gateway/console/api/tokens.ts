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
  /** The maximum that the token may spend in total, or undefined if only the balance limits it. */
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
  /** The label of its orders, unless a request names another one. Undefined for no label. */
  readonly label?: string;
  /** The last characters of its key, or undefined if they are not known. */
  readonly hint?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly lastChargedAt?: number;
  /** True if the visitor is signed in with it. */
  readonly isOwn: boolean;
  /** True if the visitor may revoke it. A token can revoke itself and its descendants. */
  readonly canRevoke: boolean;
  /** The id of the token that created it, undefined if an operator or the configuration did. */
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
  /** Empty for no label. */
  readonly label?: string;
  readonly webhooks: Right;
  readonly tokens: Right;
}

export interface MadeToken {
  readonly token: Token;
  /** Shown this once. */
  readonly key: string;
}

/** DELETE /tokens/{tokenId}. With `with_made=true` it also revokes the descendants of the token. */
export interface RevokedToken {
  readonly token: Token;
  /** The number of its descendants that were revoked with it. */
  readonly madeRevoked: number;
}
