import type { Counters } from '../counters/counters.ts';
import { Problem } from '@reelgate/platform/problem';
import type { OwnLimits, Principal } from '../clients/billing-client.ts';
import type { GatewayLimits } from '../config.ts';
import type { Exchange } from './exchange.ts';
import type { Count } from './route.ts';

const LIMIT_OF: Readonly<Record<Count, keyof GatewayLimits & keyof OwnLimits>> = { creates: 'createsPerMinute', reads: 'readsPerMinute', calls: 'callsPerMinute' };

interface RateDeps {
  readonly counters: Counters;
  readonly limits: GatewayLimits;
}

/** Counts a request under its token, by the token's own limit where it has one, and says how it stands in the headers; refuses what is too much. */
export async function limitRate(deps: RateDeps, exchange: Exchange, principal: Principal, counts: Count): Promise<void> {
  await takeRate(deps, principal, counts, (headers) => {
    for (const name in headers) exchange.res.setHeader(name, headers[name] ?? '');
  });
}

/** The same for a request that has no exchange; `say` is given the headers, also when it is refused. */
export async function takeRate({ counters, limits }: RateDeps, principal: Principal, counts: Count, say?: (headers: Readonly<Record<string, string>>) => void): Promise<void> {
  const verdict = await counters.take(`${counts}:${principal.tokenId}`, principal.limits?.[LIMIT_OF[counts]] ?? limits[LIMIT_OF[counts]]);
  say?.({
    'x-ratelimit-limit': String(verdict.limit),
    'x-ratelimit-remaining': String(verdict.remaining),
    'x-ratelimit-reset': String(Math.ceil(verdict.resetMs / 1000)),
  });
  if (verdict.allowed) return;
  throw new Problem({
    kind: 'exhausted', reason: 'rate_limit_exceeded', retryAfterMs: verdict.retryAfterMs,
    message: `this token may send ${String(verdict.limit)} ${counts} a minute; try again in ${String(Math.ceil(verdict.retryAfterMs / 1000))} s`,
  });
}
