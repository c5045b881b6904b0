import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { Problem, isProblem } from '@reelgate/platform/problem';
import type { Authenticate, Principal } from '../clients/billing-client.ts';
import { openLeakyBucket } from './leaky-bucket.ts';

const KNOWN_MAX = 20_000;
const KNOWN_FRESH_MS = 10_000;
const REFUSED_MAX = 20_000;
const REFUSED_FRESH_MS = 3000;
/** Tokens that were never seen may reach billing this often; known ones are asked again every ten seconds, which bounds itself. */
const STRANGERS = { burst: 500, perSecond: 200 };

export interface Principals {
  /** Who holds this token; refuses with a Problem. */
  of(key: string, requestId: string): Promise<Principal>;
  /** A token changed: what was remembered of it is asked again. */
  drop(tokenId: string): void;
}

interface Known {
  readonly principal: Principal;
  readonly askedAt: number;
}
interface Refused {
  readonly problem: Problem;
  readonly askedAt: number;
}

/** Remembers who holds which token, bounded in number and in time. Keys are kept as digests. */
export function cachedPrincipals(authenticate: Authenticate, clock: Clock): Principals {
  const known = new LRUCache<string, Known>({ max: KNOWN_MAX });
  const refused = new LRUCache<string, Refused>({ max: REFUSED_MAX });
  const asking = new Map<string, Promise<Principal>>();
  const strangers = openLeakyBucket(STRANGERS, clock);
  /** Grows with every change of a token, so that an answer from before a change is not remembered. */
  let changes = 0;

  const ask = async (digest: string, key: string, requestId: string): Promise<Principal> => {
    const [askedAt, before] = [clock.now(), changes];
    try {
      const principal = await authenticate(key, requestId);
      if (before === changes) known.set(digest, { principal, askedAt });
      return principal;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      known.delete(digest);
      if (before === changes) refused.set(digest, { problem: error, askedAt });
      throw error;
    }
  };

  const start = (digest: string, key: string, requestId: string): Promise<Principal> => {
    const call: Promise<Principal> = ask(digest, key, requestId).finally(() => {
      if (asking.get(digest) === call) asking.delete(digest);
    });
    asking.set(digest, call);
    return call;
  };

  const find = async (digest: string, key: string, requestId: string): Promise<Principal> => {
    const entry = known.get(digest);
    if (entry !== undefined && isRecent(clock, entry.askedAt, KNOWN_FRESH_MS)) return entry.principal;
    const no = refused.get(digest);
    if (no !== undefined && isRecent(clock, no.askedAt, REFUSED_FRESH_MS)) throw no.problem;
    const running = asking.get(digest);
    if (running !== undefined) return running;
    if (entry === undefined && !strangers.take())
      throw new Problem({
        kind: 'unavailable',
        reason: 'gateway_busy',
        message: 'too many unknown tokens; retry in 1 s',
        retryAfterMs: 1000,
      });
    return start(digest, key, requestId);
  };

  return {
    of: async (key, requestId) => {
      const principal = await find(hash('sha256', key, 'base64'), key, requestId);
      if (principal.expiresAt === undefined || clock.now() < principal.expiresAt) return principal;
      throw new Problem({ kind: 'forbidden', reason: 'token_disabled', message: 'the token has expired' });
    },
    drop: (tokenId) => {
      changes += 1;
      asking.clear();
      refused.clear();
      for (const [digest, { principal }] of known.entries()) if (principal.tokenId === tokenId) known.delete(digest);
    },
  };
}

/** Billing said no, as opposed to not having answered. */
function isRefusal(error: unknown): error is Problem {
  return isProblem(error) && (error.kind === 'unauthenticated' || error.kind === 'forbidden');
}
