import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import { Problem } from '@reelgate/platform/problem';
import type { OwnLimits, Principal } from '../../clients/billing-client.ts';
import type { GatewayLimits } from '../../config.ts';
import type { Verdict } from '../../domain/sliding-window.ts';
import type { Exchange } from '../exchange.ts';
import type { Count } from '../routes/route.ts';

const LIMIT_OF: Readonly<Record<Count, keyof GatewayLimits & keyof OwnLimits>> = {
  creates: 'createsPerMinute',
  reads: 'readsPerMinute',
  calls: 'callsPerMinute',
};

interface RateDeps {
  readonly counters: RateCounters;
  readonly limits: GatewayLimits;
}

/** Counts a request under its token, by the token's own limit where it has one, and says how it stands in the headers; refuses what is too much. */
export function limitRate(deps: RateDeps, { state }: Exchange, principal: Principal, counts: Count): Promise<void> {
  return takeRate(deps, principal, counts, ({ limit, remaining, resetMs }) => {
    state.head?.push(
      'x-ratelimit-limit',
      String(limit),
      'x-ratelimit-remaining',
      String(remaining),
      'x-ratelimit-reset',
      String(Math.ceil(resetMs / 1000)),
    );
  });
}

/** The same for a request that has no exchange; `say` is told how it stands, also when it is refused. */
export async function takeRate(
  { counters, limits }: RateDeps,
  principal: Principal,
  counts: Count,
  say?: (verdict: Verdict) => void,
): Promise<void> {
  const verdict = await counters.take(
    `${counts}:${principal.tokenId}`,
    principal.limits?.[LIMIT_OF[counts]] ?? limits[LIMIT_OF[counts]],
  );
  say?.(verdict);
  if (verdict.allowed) return;
  throw new Problem({
    kind: 'exhausted',
    reason: 'rate_limit_exceeded',
    retryAfterMs: verdict.retryAfterMs,
    message: `rate limit exceeded: ${String(verdict.limit)} ${counts} per minute; retry in ${String(Math.ceil(verdict.retryAfterMs / 1000))} s`,
  });
}
