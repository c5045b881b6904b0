import type { Act } from '@reelgate/proto/access/v1/act';
import type { Nanos } from '../../domain/money.ts';
import type { ChangeableLimits, Token, TokenQueue } from '../../domain/token.ts';

/**
 * The limits that replace the limits of a token. Without a limit, its account's money or the configured number bounds
 * it.
 */
export interface NewLimits extends Omit<ChangeableLimits, 'queue' | 'confirmAbove'> {
  /** Undefined if it stays as it is. */
  readonly queue: TokenQueue | undefined;
  /** Undefined if it stays as it is, empty to remove it. */
  readonly label: string | undefined;
  /** Undefined if it stays as it is. */
  readonly confirmAbove: Nanos | 'never' | undefined;
}

export interface NewToken {
  readonly token: Token;
  /** The hash to be stored, then the other hashes of the same key. */
  readonly keyHashes: readonly string[];
  /**
   * The entry of the configuration that the token stands for. Undefined for a token of an operator or of another token.
   */
  readonly origin: string | undefined;
}

/** The tokens of an account that have a maker. */
export interface MadeTokens {
  readonly all: number;
  /** Those that neither ended nor were revoked. */
  readonly live: number;
  /** The makers of the maker. */
  readonly makersOfMaker: number;
}

export interface Revocation {
  readonly id: string;
  readonly at: number;
  /** The token that revokes it, undefined if an operator does. */
  readonly revokerId: string | undefined;
  /** True if all its descendants end with it. */
  readonly withMade: boolean;
}

/** A token that is to be revoked, its makers, and the token that revokes it, which is undefined if an operator does. */
export interface RevocationParties {
  readonly token: Token;
  readonly makers: readonly Token[];
  readonly revoker: Token | undefined;
}

export interface TokenStore {
  /**
   * Adds the token unless its key or its origin exists. Returns whether it was added. Without an act, no act is
   * recorded.
   */
  insert(token: NewToken, act?: Act): Promise<boolean>;
  /**
   * Adds a token under another token. `permit` gets the locked maker, and refuses it or returns the act. The maker is
   * undefined if it is no token of the account. Returns false if the key exists.
   */
  insertBy(
    makerId: string,
    token: NewToken,
    permit: (maker: Token | undefined, made: MadeTokens) => Act,
  ): Promise<boolean>;
  /** Finds the token by any hash of its key. From then on it is stored under the first one. */
  findByKeyHashes(keyHashes: readonly string[]): Promise<Token | undefined>;
  find(id: string): Promise<Token | undefined>;
  /** The maker of the token, the maker of that maker, and so on. */
  findMakers(token: Token): Promise<readonly Token[]>;
  /** Those of the account, or of every one, with this hint. The oldest first, at most `limit`. */
  listByHint(hint: string, accountId: string | undefined, limit: number): Promise<readonly Token[]>;
  /** The oldest first, at most `limit`. */
  list(accountId: string | undefined, limit: number): Promise<readonly Token[]>;
  /**
   * Revokes the token, and its descendants if that is requested, each once and all together. `permit` refuses it, or
   * returns the description of the act for each token, which its first revocation records. Returns undefined if the
   * token is unknown.
   */
  revoke(
    revocation: Revocation,
    permit: (revoking: RevocationParties) => (token: Token) => Act,
  ): Promise<{ readonly token: Token; readonly endedIds: readonly string[] } | undefined>;
  /**
   * Replaces the limits and records the act, which `describe` returns for the token as it was. Returns undefined if it
   * is unknown.
   */
  changeLimits(id: string, limits: NewLimits, describe: (before: Token) => Act): Promise<Token | undefined>;
}
