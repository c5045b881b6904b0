import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_HEADERS } from './response-headers.ts';
import type { CorsSettings } from './cors-settings.ts';

/** The consoles have pages of their own, and only upstreams use callbacks. */
const CLOSED = /^\/(console|callbacks)(\/|$)/;
const LINKS = '/ximg/';
/** Stands for every origin, in the configuration and in an answer. */
const ANY = '*';
const METHODS = 'GET, HEAD, POST, DELETE';
const LINK_METHODS = 'GET, HEAD';
/** No browser keeps a permission for longer than two hours, except one. */
const PERMISSION_SECONDS = '7200';
/** Names of headers in a list. */
const NAMES = /^[\w!#$%&'*+.^`|~, -]+$/;
/**
 * Headers that clients read beside the documented ones, also of upstreams. A browser shows the usual ones of a body
 * anyway.
 */
const READ_TOO = [
  'accept-encoding',
  'allow',
  'etag',
  'mcp-protocol-version',
  'mcp-session-id',
  'request-id',
  'retry-after-ms',
];
const EXPOSED = [...Object.keys(RESPONSE_HEADERS), ...READ_TOO].join(', ');

/** The permissions for pages of other origins. They never cover cookies, so a console's session is never used. */
export interface CrossOrigin {
  readonly allows: (origin: string) => boolean;
  /**
   * Sets the permission on the answer to a request, even on a refusal. Returns true if the request was a preflight. A
   * preflight is answered before any check of a token or limit, and does not reach a route.
   */
  readonly permit: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export function crossOrigin({ origins, links }: CorsSettings): CrossOrigin {
  const listed = new Set(origins);
  const isForAny = listed.has(ANY);
  /** Returns the permitted origin; undefined if the origin is not permitted. */
  const choose = (origin: string, isLink: boolean, response: ServerResponse): string | undefined => {
    if (isForAny || (links && isLink)) return ANY;
    // also without an origin: a cache must not give this answer to a page
    if (listed.size > 0) response.setHeader('vary', 'Origin');
    return listed.has(origin) ? origin : undefined;
  };
  return {
    allows: (origin) => isForAny || listed.has(origin),
    permit: (request, response) => {
      if (listed.size === 0 && !links) return false;
      const [path = ''] = (request.url ?? '').split('?', 1);
      if (isClosed(path)) return false;
      const { origin = '' } = request.headers;
      const isLink = path.startsWith(LINKS);
      const permitted = choose(origin, isLink, response);
      if (permitted === undefined) return false;
      response.setHeader('access-control-allow-origin', permitted);
      if (isPreflight(request)) {
        answerPreflight(request, response, isLink ? LINK_METHODS : METHODS);
        return true;
      }
      if (origin !== '') response.setHeader('access-control-expose-headers', EXPOSED);
      return false;
    },
  };
}

/** Only a proxy asks with a whole address in place of a path. */
function isClosed(path: string): boolean {
  return !path.startsWith('/') || CLOSED.test(path);
}

/** A preflight has no body. */
function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    headers['transfer-encoding'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  );
}

/**
 * Allows every header that the page asks for: SDKs and tracers send names that no list knows, such as `x-stainless-*`,
 * and a header gives a page no more than the token gives any program.
 */
function answerPreflight({ headers }: IncomingMessage, response: ServerResponse, methods: string): void {
  const asked = headers['access-control-request-headers'] ?? '';
  response
    .writeHead(204, {
      'access-control-allow-methods': methods,
      ...(NAMES.test(asked) ? { 'access-control-allow-headers': asked } : {}),
      'access-control-max-age': PERMISSION_SECONDS,
    })
    .end();
}
