import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { GatewayLimits } from '../../config.ts';
import type { Principals } from '../../operations/principals.ts';
import { tokenOf } from './credentials.ts';
import type { Exchange } from '../exchange.ts';
import { limitRate } from './limit-rate.ts';
import type { RouteEntry } from '../routes/route.ts';

export interface AdmitDeps {
  readonly principals: Principals;
  readonly counters: RateCounters;
  readonly limits: GatewayLimits;
}

/** Runs before a route: authenticates the caller and applies the caller's rate limit. */
export async function admit(deps: AdmitDeps, exchange: Exchange, { token }: RouteEntry): Promise<void> {
  if (token === undefined) return;
  const principal = await deps.principals.of(tokenOf(exchange.req.headers, exchange.req.url), exchange.state.requestId);
  exchange.state.principal = principal;
  await limitRate(deps, exchange, principal, token.counts);
}
