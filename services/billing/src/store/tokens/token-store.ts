import type { Token } from '../../domain/token.ts';

export interface NewToken {
  readonly token: Token;
  readonly keyHash: string;
  /** Names the place in the configuration for which it is made; undefined: made by a person. */
  readonly origin: string | undefined;
}

export interface TokenStore {
  /** Adds the token unless its key or its origin is there already; says whether it did. */
  insert(token: NewToken): Promise<boolean>;
  findByKeyHash(keyHash: string): Promise<Token | undefined>;
  find(id: string): Promise<Token | undefined>;
  /** The oldest first, at most so many. */
  list(accountId: string | undefined, limit: number): Promise<readonly Token[]>;
  /** Ends the token; a second time changes nothing. Undefined when there is none. */
  revoke(id: string, at: number): Promise<Token | undefined>;
}
