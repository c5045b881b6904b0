import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { Problem } from '@reelgate/platform/problem';
import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { CountedToken, OwnLimits, Principal } from '../../clients/billing-client.ts';
import type { Verdict } from '../../domain/sliding-window.ts';
import type { Exchange } from '../http-exchange.ts';
import type { Count } from '../routes/route.ts';
import { refuse } from '../../refusals.ts';

/** The requests that a token may send per minute, if it has no limits of its own. */
export interface RateLimits {
  readonly createsPerMinute: number;
  readonly readsPerMinute: number;
  /** For the synchronous routes. */
  readonly callsPerMinute: number;
}

/** Requests of the console do not use up the limits of the programs of a token. */
const CONSOLE_PER_MINUTE = 1200;

type LimitedCount = Exclude<Count, 'console'>;

const LIMIT_OF: Readonly<Record<LimitedCount, keyof RateLimits & keyof OwnLimits>> = {
  creates: 'createsPerMinute',
  reads: 'readsPerMinute',
  calls: 'callsPerMinute',
};

interface RateDeps {
  readonly counters: RateCounters;
  readonly limits: RateLimits;
}

/**
 * Counts a request against the limit of its token and of the tokens that created it, and sets the rate limit headers to
 * the limit that decides. Refuses a request beyond any of the limits.
 */
export function limitRate(deps: RateDeps, { res }: Exchange, principal: Principal, counts: Count): MaybePromise<void> {
  return takeRate(deps, principal, counts, ({ limit, remaining, resetMs }) => {
    res.setHeader('x-ratelimit-limit', String(limit));
    res.setHeader('x-ratelimit-remaining', String(remaining));
    res.setHeader('x-ratelimit-reset', String(Math.ceil(resetMs / 1000)));
  });
}

/** The same for a request without an exchange. Calls `onVerdict` for a refused request too. */
export function takeRate(
  { counters, limits }: RateDeps,
  principal: Principal,
  counts: Count,
  onVerdict?: (verdict: Verdict) => void,
): MaybePromise<void> {
  const { makers } = principal;
  const taken = counters.take(
    buildRateKey(counts, principal),
    findLimit(limits, principal, counts),
    makers?.map((maker) => ({ key: buildRateKey(counts, maker), limit: findLimit(limits, maker, counts) })),
  );
  return thenMaybe(taken, (verdict) => {
    onVerdict?.(verdict);
    if (!verdict.allowed) throw overTheLimit(verdict, counts);
  });
}

function buildRateKey(counts: Count, { tokenId }: CountedToken): string {
  return `${counts}:${tokenId}`;
}

function findLimit(limits: RateLimits, token: CountedToken, counts: Count): number {
  if (counts === 'console') return CONSOLE_PER_MINUTE;
  return token.limits?.[LIMIT_OF[counts]] ?? limits[LIMIT_OF[counts]];
}

function overTheLimit({ limit, isOfMaker, retryAfterMs }: Verdict, counts: Count): Problem {
  return refuse('rate_limit_exceeded', {
    retryAfterMs,
    message:
      `rate limit exceeded: ${limit} ${counts === 'console' ? 'requests of the console' : counts} per minute` +
      `${isOfMaker ? ', a limit of the token that made this one' : ''}; ` +
      `retry in ${Math.ceil(retryAfterMs / 1000)} s`,
  });
}
