import type { Act } from '../../domain/act.ts';
import type { Nanos } from '../../domain/money.ts';
import type { ChangeableLimits, Token, TokenQueue } from '../../domain/token.ts';

/** The limits that replace those of a token. Without a limit, its account's money or the configured number bounds it. */
export interface NewLimits extends Omit<ChangeableLimits, 'queue' | 'confirmAbove'> {
  /** Undefined: as before. */
  readonly queue: TokenQueue | undefined;
  /** Undefined: as before. Empty: none. */
  readonly label: string | undefined;
  /** Undefined: as before. */
  readonly confirmAbove: Nanos | 'never' | undefined;
}

export interface NewToken {
  readonly token: Token;
  /** The hash to be stored, then the other hashes of the same key. */
  readonly keyHashes: readonly string[];
  /** Names the entry of the configuration that it was made for; undefined: made by an operator or a token. */
  readonly origin: string | undefined;
}

/** The tokens of an account that its tokens made. */
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
  /** The token that revokes it; undefined: an operator does. */
  readonly revokerId: string | undefined;
  /** True if all tokens that it made, directly or through others, end with it. */
  readonly withMade: boolean;
}

/** A token that is to be revoked, its makers, and the token that revokes it; undefined: an operator does. */
export interface RevocationParties {
  readonly token: Token;
  readonly makers: readonly Token[];
  readonly revoker: Token | undefined;
}

export interface TokenStore {
  /** Adds the token unless its key or its origin exists. Gives whether it did. Without an act, nothing is recorded. */
  insert(token: NewToken, act?: Act): Promise<boolean>;
  /**
   * Adds a token that another token makes. `permit` gets the maker, which is locked, and refuses it or gives the act.
   * The maker is undefined if it is no token of the account. False: the key exists.
   */
  insertBy(
    makerId: string,
    token: NewToken,
    permit: (maker: Token | undefined, made: MadeTokens) => Act,
  ): Promise<boolean>;
  /** Finds the token by any hash of its key. From then on it is stored under the first one. */
  findByKeyHashes(keyHashes: readonly string[]): Promise<Token | undefined>;
  find(id: string): Promise<Token | undefined>;
  /** The maker of the token, then the maker of that, and so on. */
  findMakers(token: Token): Promise<readonly Token[]>;
  /** Those of the account, or of every one, with this hint. The oldest first, at most `limit`. */
  listByHint(hint: string, accountId: string | undefined, limit: number): Promise<readonly Token[]>;
  /** The oldest first, at most `limit`. */
  list(accountId: string | undefined, limit: number): Promise<readonly Token[]>;
  /**
   * Revokes the token, and what it made if that is asked for, each once and all together. `permit` refuses it or gives
   * what describes the act for each token, which its first revocation records. Undefined: the token is unknown.
   */
  revoke(
    revocation: Revocation,
    permit: (revoking: RevocationParties) => (token: Token) => Act,
  ): Promise<{ readonly token: Token; readonly endedIds: readonly string[] } | undefined>;
  /**
   * Replaces the limits and records the act, which `describe` gives for the token as it was. Undefined: it is unknown.
   */
  changeLimits(id: string, limits: NewLimits, describe: (before: Token) => Act): Promise<Token | undefined>;
}
