import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '@reelgate/platform/problem';

const KEY = /^[\x21-\x7e]{8,256}$/;
const BEARER = /^bearer +(\S+) *$/i;
const USUAL = 'Bearer ';
const GOOGLE_ROUTE = /^\/v1beta\/|^\/v1\/models(\/[^/]+)?$/;
/** How a browser's realtime client has to send its token. */
const SUBPROTOCOL = /(?:^|,\s*)openai-insecure-api-key\.([\w.~+/-]+)/;

/** The site token of a request, whichever way its client spells it; refuses what cannot be one. */
export function tokenOf(headers: IncomingHttpHeaders, url = ''): string {
  const key =
    headers.authorization === undefined ? (otherSpelling(headers) ?? inQuery(url)) : inBearer(headers.authorization);
  if (key !== undefined && KEY.test(key)) return key;
  throw new Problem({
    kind: 'unauthenticated',
    reason: 'invalid_api_key',
    message: 'missing or malformed token; send the header Authorization: Bearer <token>',
  });
}

/** As nearly everybody writes it, or in any of the ways that are allowed. */
function inBearer(authorization: string): string | undefined {
  const usual = authorization.startsWith(USUAL) ? authorization.slice(USUAL.length) : '';
  return KEY.test(usual) ? usual : BEARER.exec(authorization)?.[1];
}

/** Google's routes take it in the query too. */
function inQuery(url: string): string | undefined {
  const at = url.indexOf('?');
  return at < 0 || !GOOGLE_ROUTE.test(url.slice(0, at))
    ? undefined
    : (new URLSearchParams(url.slice(at)).get('key') ?? undefined);
}

function otherSpelling(headers: IncomingHttpHeaders): string | undefined {
  const [key] = [headers['x-api-key'] ?? headers['x-goog-api-key'] ?? []].flat();
  if (key !== undefined) return key;
  return headers.upgrade === undefined ? undefined : SUBPROTOCOL.exec(headers['sec-websocket-protocol'] ?? '')?.[1];
}
