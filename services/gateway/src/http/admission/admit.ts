import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import { findPrincipal } from '../../operations/find-principal.ts';
import { SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import { readTokens } from './credentials.ts';
import type { Exchange } from '../http-exchange.ts';
import { limitRate } from './limit-rate.ts';
import type { RouteEntry } from '../routes/route.ts';

/** Reads the site token of a request from its session. */
export interface SessionTokens {
  tokenOf(exchange: Exchange): MaybePromise<string>;
}

export interface AdmitDeps {
  readonly principals: Principals;
  readonly counters: RateCounters;
  readonly limits: RateLimits;
  /** The sessions of clients; absent if no route takes the token of a session. */
  readonly sessions?: SessionTokens | undefined;
}

/** Runs before a route: authenticates the caller and applies the caller's rate limit. */
export function admit(deps: AdmitDeps, exchange: Exchange, { token }: RouteEntry): MaybePromise<void> {
  if (token === undefined) return undefined;
  const { state } = exchange;
  const accepted =
    token.from === 'session'
      ? thenMaybe(readSessionToken(deps, exchange), (key) => {
          const { requestId, source, span } = state;
          return findPrincipal(deps.principals, [key], { requestId, source, span, freshMs: SESSION_FRESH_MS });
        })
      : findPrincipal(deps.principals, readTokens(exchange.req.headers, exchange.req.url), state);
  return thenMaybe(accepted, (found) => {
    state.token = found.token;
    state.principal = found.principal;
    return limitRate(deps, exchange, found.principal, token.counts);
  });
}

function readSessionToken({ sessions }: AdmitDeps, exchange: Exchange): MaybePromise<string> {
  if (sessions === undefined) throw new Error(`no sessions are open for ${exchange.path}`);
  return sessions.tokenOf(exchange);
}
