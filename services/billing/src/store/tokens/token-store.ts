import type { Token } from '../../domain/token.ts';

export interface NewToken {
  readonly token: Token;
  /** The hash to be stored, then the other hashes of the same key. */
  readonly keyHashes: readonly string[];
  /** Names the entry of the configuration that it was made for; undefined: made by an operator. */
  readonly origin: string | undefined;
}

export interface TokenStore {
  /** Adds the token unless its key or its origin exists. Gives whether it did. */
  insert(token: NewToken): Promise<boolean>;
  /** Finds the token by any hash of its key. From then on it is stored under the first one. */
  findByKeyHashes(keyHashes: readonly string[]): Promise<Token | undefined>;
  find(id: string): Promise<Token | undefined>;
  /** The oldest first, at most `limit`. */
  list(accountId: string | undefined, limit: number): Promise<readonly Token[]>;
  /** Revokes the token, once. Undefined: the token is unknown. */
  revoke(id: string, at: number): Promise<Token | undefined>;
}
