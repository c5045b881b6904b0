import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { RateCounters } from '../../rate-counters/rate-counters.ts';
import type { RateLimits } from './limit-rate.ts';
import { findPrincipal, SESSION_FRESH_MS } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import type { Exchange } from '../http-exchange.ts';
import { limitRate } from './limit-rate.ts';
import type { RouteEntry } from '../routes/route.ts';
import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '../../refusals.ts';

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

/** In the order in which their tokens are tried. `api-key` is the header of Azure's clients. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;
const KEY = /^[\x21-\x7e]{8,256}$/;
const BEARER = /^bearer +(\S+) *$/i;
const GOOGLE_ROUTE = /^\/v1beta\/|^\/v1\/models(\/.+)?$/;
/** A browser cannot set headers on a WebSocket, so its realtime client sends the token as a subprotocol. */
const SUBPROTOCOL = /(?:^|,\s*)openai-insecure-api-key\.([\w.~+/-]+)/;

/** Reads the site tokens of a request, at least one, from all places where a client may put it. */
export function readTokens(headers: IncomingHttpHeaders, url = ''): readonly string[] {
  const bearer = BEARER.exec(headers.authorization ?? '')?.[1];
  const named = KEY_HEADERS.map((name) => headers[name]).flat();
  const tokens = [bearer, ...named, readFromSubprotocol(headers), readFromQuery(url)].filter(isToken);
  if (tokens.length > 0) return tokens;
  throw refuse('invalid_api_key');
}

function isToken(text: string | undefined): text is string {
  return text !== undefined && KEY.test(text);
}

/** Google's routes take the token in the query too. */
function readFromQuery(url: string): string | undefined {
  const at = url.indexOf('?');
  return at < 0 || !GOOGLE_ROUTE.test(url.slice(0, at))
    ? undefined
    : (new URLSearchParams(url.slice(at)).get('key') ?? undefined);
}

function readFromSubprotocol(headers: IncomingHttpHeaders): string | undefined {
  return headers.upgrade === undefined ? undefined : SUBPROTOCOL.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
}
