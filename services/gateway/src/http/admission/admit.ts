import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { GatewayLimits } from '../../config.ts';
import type { ClientSessions } from '../../console/session/client-sessions.ts';
import { SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import { readToken } from './credentials.ts';
import type { Exchange } from '../http-exchange.ts';
import { limitRate } from './limit-rate.ts';
import type { RouteEntry } from '../routes/route.ts';

export interface AdmitDeps {
  readonly principals: Principals;
  readonly counters: RateCounters;
  readonly limits: GatewayLimits;
  /** The sessions of clients; absent if no route takes the token of a session. */
  readonly sessions?: ClientSessions | undefined;
}

/** Runs before a route: authenticates the caller and applies the caller's rate limit. */
export function admit(deps: AdmitDeps, exchange: Exchange, { token }: RouteEntry): MaybePromise<void> {
  if (token === undefined) return undefined;
  const { state } = exchange;
  const { requestId, source, span } = state;
  const principal =
    token.from === 'session'
      ? thenMaybe(readSessionToken(deps, exchange), (key) => {
          state.sessionToken = key;
          return deps.principals.of(key, { requestId, source, span, freshMs: SESSION_FRESH_MS });
        })
      : deps.principals.of(readToken(exchange.req.headers, exchange.req.url), state);
  return thenMaybe(principal, (found) => {
    state.principal = found;
    return limitRate(deps, exchange, found, token.counts);
  });
}

function readSessionToken({ sessions }: AdmitDeps, exchange: Exchange): MaybePromise<string> {
  if (sessions === undefined) throw new Error(`no sessions are open for ${exchange.path}`);
  return sessions.tokenOf(exchange);
}
