import type { IncomingHttpHeaders } from 'node:http';
import { refuse } from '../../refusals.ts';

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
