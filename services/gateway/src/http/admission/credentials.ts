import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@reelgate/platform/problem';

const KEY = /^[\x21-\x7e]{8,256}$/;
const BEARER = /^bearer +(\S+) *$/i;
const GOOGLE_ROUTE = /^\/v1beta\/|^\/v1\/models(\/.+)?$/;
/** A browser cannot set headers on a WebSocket, so its realtime client sends the token as a subprotocol. */
const SUBPROTOCOL = /(?:^|,\s*)openai-insecure-api-key\.([\w.~+/-]+)/;

/** The site token of a request, in any header that a client may use. Refuses a malformed token. */
export function readToken(headers: IncomingHttpHeaders, url = ''): string {
  const key =
    headers.authorization === undefined
      ? (readFromOtherHeader(headers) ?? readFromQuery(url))
      : BEARER.exec(headers.authorization)?.[1];
  if (key !== undefined && KEY.test(key)) return key;
  throw new Problem({
    kind: 'unauthenticated',
    reason: 'invalid_api_key',
    message: 'missing or malformed token; send the header Authorization: Bearer <token>',
  });
}

/** Google's routes take the token in the query too. */
function readFromQuery(url: string): string | undefined {
  const at = url.indexOf('?');
  return at < 0 || !GOOGLE_ROUTE.test(url.slice(0, at))
    ? undefined
    : (new URLSearchParams(url.slice(at)).get('key') ?? undefined);
}

function readFromOtherHeader(headers: IncomingHttpHeaders): string | undefined {
  const [key] = [headers['x-api-key'] ?? headers['x-goog-api-key'] ?? []].flat();
  if (key !== undefined) return key;
  return headers.upgrade === undefined ? undefined : SUBPROTOCOL.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
}
