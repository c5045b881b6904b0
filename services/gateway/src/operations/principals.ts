import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { sourceNetwork } from '@reelgate/platform/source-address';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Span } from '@reelgate/platform/trace/trace';
import { listTokenAndMakers, mayUse } from '../clients/billing-client.ts';
import type { Authenticate, Principal } from '../clients/billing-client.ts';
import type { Catalogue } from '../domain/model-defaults.ts';
import { refuse } from '../refusals.ts';
import { isTokenRefusal } from './watch-token.ts';

const KNOWN_MAX = 20_000;
const KNOWN_FRESH_MS = 10_000;
/** For sessions of a console: the announcement of a revocation can be lost. */
export const SESSION_FRESH_MS = 1000;
const REFUSED_MAX = 20_000;
const REFUSED_FRESH_MS = 3000;

export interface Principals {
  /**
   * Finds the principal of a token, at once if it was asked for a short time ago. Refuses an invalid token with a
   * Problem. An unknown token takes from the look-ups of the caller's network; a known one does not, though it is
   * checked every ten seconds.
   */
  of(key: string, call: TokenCall): MaybePromise<Principal>;
  /** Forgets a token and the tokens that it created, so that the next request of each checks it again. */
  drop(tokenId: string): void;
}

/** The request that a token is checked for. */
export interface TokenCall {
  readonly requestId: string;
  /** Returns the address that the request comes from. It is read only for an unknown token. */
  readonly source: () => string;
  readonly span?: Span | undefined;
  /** Maximum age of a known answer in milliseconds; ten seconds by default. */
  readonly freshMs?: number;
}

interface KnownPrincipal {
  readonly principal: Principal;
  readonly askedAt: number;
}
interface KnownRefusal {
  readonly problem: Problem;
  readonly askedAt: number;
}

/** Caches the principals of tokens, with a limit on number and age. It keeps only digests of the tokens. */
export function cachePrincipals(authenticate: Authenticate, clock: Clock): Principals {
  // both grow with their tokens; by `max` alone they would take the memory of all of them at the start
  const known = new LRUCache<string, KnownPrincipal>({ maxSize: KNOWN_MAX, sizeCalculation: () => 1 });
  const refused = new LRUCache<string, KnownRefusal>({ maxSize: REFUSED_MAX, sizeCalculation: () => 1 });
  const pending = new Map<string, Promise<Principal>>();
  const budget = openLookUpBudget(clock);
  /** Counts the changes of tokens, so that an answer from before a change is not cached. */
  let changes = 0;

  const authenticateAndCache = async (digest: string, key: string, call: TokenCall): Promise<Principal> => {
    const [askedAt, before] = [clock.now(), changes];
    try {
      const principal = await authenticate(key, call.requestId, call.span);
      if (before === changes) known.set(digest, { principal, askedAt });
      return principal;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      known.delete(digest);
      if (before === changes) refused.set(digest, { problem: error, askedAt });
      throw error;
    }
  };

  const start = (digest: string, key: string, call: TokenCall): Promise<Principal> => {
    const answer: Promise<Principal> = authenticateAndCache(digest, key, call).finally(() => {
      if (pending.get(digest) === answer) pending.delete(digest);
    });
    pending.set(digest, answer);
    return answer;
  };

  const find = (digest: string, key: string, call: TokenCall): MaybePromise<Principal> => {
    const entry = known.get(digest);
    return entry !== undefined && isRecent(clock, entry.askedAt, call.freshMs ?? KNOWN_FRESH_MS)
      ? entry.principal
      : check(entry !== undefined, digest, key, call);
  };

  const check = async (isKnown: boolean, digest: string, key: string, call: TokenCall): Promise<Principal> => {
    const refusal = refused.get(digest);
    if (refusal !== undefined && isRecent(clock, refusal.askedAt, REFUSED_FRESH_MS)) throw refusal.problem;
    const running = pending.get(digest);
    if (running !== undefined) return running;
    const verdict = isKnown ? 'taken' : budget.take(sourceNetwork(call.source()));
    if (verdict !== 'taken') throw tooManyUnknown(verdict);
    return start(digest, key, call);
  };

  return {
    of: (key, call) =>
      thenMaybe(find(hash('sha256', key, 'base64'), key, call), (principal) => {
        if (principal.expiresAt === undefined || clock.now() < principal.expiresAt) return principal;
        return Promise.reject(tokenExpired());
      }),
    drop: (tokenId) => {
      changes += 1;
      pending.clear();
      refused.clear();
      for (const [digest, { principal }] of known.entries())
        if (listTokenAndMakers(principal).includes(tokenId)) known.delete(digest);
    },
  };
}

function tooManyUnknown(verdict: Exclude<LookUpVerdict, 'taken'>): Problem {
  return verdict === 'address_over'
    ? refuse('rate_limit_exceeded', {
        message: 'too many unknown tokens from this address; retry in 1 s',
        retryAfterMs: 1000,
      })
    : refuse('gateway_busy', { message: 'too many unknown tokens; retry in 1 s', retryAfterMs: 1000 });
}

function tokenExpired(): Problem {
  return refuse('token_disabled');
}

/** Reports whether billing refused the token, as opposed to not answering. */
function isRefusal(error: unknown): error is Problem {
  return isProblem(error) && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
}

/** Lists the models that a token may use and an enabled channel has. */
export function listVisibleModels(principal: Principal, { offered }: Catalogue): readonly string[] {
  return offered.filter((model) => mayUse(principal, model));
}

/** Of all addresses together, so that billing has a bounded load. */
const ALL = { burst: 500, perSecond: 200 };
/** Of one address. Two addresses could use up the whole refill. */
const SHARE = { burst: 250, perSecond: 100 };
/** The part of the whole that only the first look-ups of an address can take. */
const RESERVE = 200;
/** The first look-ups of an address. Twenty addresses would have to work together to use up the reserve. */
const FIRST = { burst: 10, perSecond: 1 };
/** Addresses with known shares. The address that was quiet for longest is forgotten. */
const ADDRESSES_MAX = 10_000;

/** The outcome of a request to look up a token. */
type LookUpVerdict = 'taken' | 'address_over' | 'all_over';

/** Bounds how often unknown tokens may reach billing. */
interface LookUpBudget {
  take(network: string): LookUpVerdict;
}

/**
 * Each address has a share of its own, and all addresses together have a bound. A part of the bound is reserved for
 * addresses that have hardly looked anything up, and refills go there first. However much others ask, a new client gets
 * in.
 */
function openLookUpBudget(clock: Clock): LookUpBudget {
  const all = openLeakyBucket(ALL, clock);
  // grows with its addresses; by `max` alone it would take the memory of all of them at the start
  const addresses = new LRUCache<string, { readonly share: LeakyBucket; readonly first: LeakyBucket }>({
    maxSize: ADDRESSES_MAX,
    sizeCalculation: () => 1,
  });
  const openBuckets = (network: string) => {
    const known = addresses.get(network);
    if (known !== undefined) return known;
    const opened = { share: openLeakyBucket(SHARE, clock), first: openLeakyBucket(FIRST, clock) };
    addresses.set(network, opened);
    return opened;
  };
  return {
    take: (network) => {
      const { share, first } = openBuckets(network);
      if (share.left() < 1) return 'address_over';
      const isTaken = all.take(RESERVE) || (all.left() >= 1 && first.take() && all.take());
      if (!isTaken) return 'all_over';
      share.take();
      return 'taken';
    },
  };
}

interface LeakyBucket {
  /** Takes a permit if at least `keep` are left after it. */
  take(keep?: number): boolean;
  /** The permits that are left, with parts of one. */
  left(): number;
}

/** A bucket of `burst` permits that refills at a steady rate. */
function openLeakyBucket(
  { burst, perSecond }: { readonly burst: number; readonly perSecond: number },
  clock: Clock,
): LeakyBucket {
  let permits = burst;
  let at = clock.now();
  const left = (): number => {
    const now = clock.now();
    permits = Math.min(burst, permits + (Math.max(0, now - at) * perSecond) / 1000);
    at = now;
    return permits;
  };
  return {
    take: (keep = 0) => {
      if (left() < keep + 1) return false;
      permits -= 1;
      return true;
    },
    left,
  };
}

/** An accepted token and its owner. */
interface AcceptedToken {
  readonly token: string;
  readonly principal: Principal;
}

/**
 * Finds the principal of the first token that is accepted. Some clients send a placeholder in one header and the token
 * in another. If none is accepted, the refusal of a known token counts before that of an unknown one.
 */
export function findPrincipal(
  principals: Pick<Principals, 'of'>,
  [first = '', ...others]: readonly string[],
  call: TokenCall,
): MaybePromise<AcceptedToken> {
  const found = thenMaybe(principals.of(first, call), (principal) => ({ token: first, principal }));
  const [next] = others;
  if (!(found instanceof Promise) || next === undefined) return found;
  return found.catch(async (refusal: unknown) => {
    if (!isTokenRefusal(refusal)) throw refusal;
    try {
      return await findPrincipal(principals, others, call);
    } catch (error) {
      throw isTokenRefusal(error) && error.kind !== 'forbidden' ? refusal : error;
    }
  });
}
