import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { FindToken, TokenRights } from '../clients/tokens.ts';
import { tokenExpired, tokenNotFound } from './task-refusals.ts';

const TOKENS_MAX = 20_000;
const FRESH_MS = 10_000;

export interface TokenReader {
  /** The rights of a token of this account, or a refusal. */
  findRights(tokenId: string, accountId: string): Promise<TokenRights>;
}

export interface Tokens extends TokenReader {
  /** Forgets a token that has changed, and its descendants. The next call reads them from billing. */
  drop(tokenId: string): void;
}

interface CachedRights {
  readonly rights: TokenRights;
  readonly askedAt: number;
}

/**
 * Caches the rights of tokens, bounded in number and in time. A create does not trust the statements of its request
 * about the token. Refusals are not cached, so a new token is found at once.
 */
export function newTokenCache(find: FindToken, clock: Clock): Tokens {
  const known = new Map<string, CachedRights>();
  const asking = new Map<string, Promise<TokenRights>>();
  /** Grows with every change, so an answer from before a change is not cached. */
  let changes = 0;

  const ask = async (tokenId: string): Promise<TokenRights> => {
    const [askedAt, before] = [clock.now(), changes];
    known.delete(tokenId);
    const rights = await find(tokenId);
    if (before === changes) remember(tokenId, { rights, askedAt });
    return rights;
  };

  const remember = (tokenId: string, entry: CachedRights): void => {
    const [oldest] = known.keys();
    if (known.size >= TOKENS_MAX && oldest !== undefined) known.delete(oldest);
    known.set(tokenId, entry);
  };

  const start = (tokenId: string): Promise<TokenRights> => {
    const call: Promise<TokenRights> = ask(tokenId).finally(() => {
      if (asking.get(tokenId) === call) asking.delete(tokenId);
    });
    asking.set(tokenId, call);
    return call;
  };

  return {
    findRights: async (tokenId, accountId) => {
      const entry = known.get(tokenId);
      const isFresh = entry !== undefined && isRecent(clock, entry.askedAt, FRESH_MS);
      const rights = isFresh ? entry.rights : await (asking.get(tokenId) ?? start(tokenId));
      // A token of another account counts as unknown.
      if (rights.accountId !== accountId) throw tokenNotFound();
      if (rights.expiresAt !== undefined && rights.expiresAt <= clock.now()) throw tokenExpired();
      return rights;
    },
    drop: (tokenId) => {
      changes += 1;
      asking.clear();
      known.delete(tokenId);
      for (const [id, { rights }] of known)
        if (rights.makers.some((maker) => maker.tokenId === tokenId)) known.delete(id);
    },
  };
}
