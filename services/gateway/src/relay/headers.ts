import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerHeaders } from './answers/call-sink.ts';

/** Headers of one connection, not of the message (RFC 9110, 7.6.1), or written anew on each connection. */
const HOP_BY_HOP: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
];

/** The usual values of Connection, which name no header. */
const PLAIN: ReadonlySet<string> = new Set(['keep-alive', 'close', 'Keep-Alive']);

/** Lists the further headers that a Connection header marks as hop-by-hop. Returns undefined if there are none. */
function listConnectionHeaders(connection: string | undefined): ReadonlySet<string> | undefined {
  return connection === undefined || PLAIN.has(connection)
    ? undefined
    : new Set(
        connection
          .toLowerCase()
          .split(',')
          .map((name) => name.trim()),
      );
}

/** Headers that are not forwarded: credentials, identities, origins, and headers that belong to this hop. */
const REMOVED = groupByLength([
  ...HOP_BY_HOP,
  'host',
  'expect',
  'accept-encoding',
  // the body is forwarded unpacked
  'content-encoding',
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  // of a page in a browser: its site does not concern the upstream, and some upstreams refuse pages
  'origin',
  'referer',
  'dnt',
  'x-request-id',
  'openai-organization',
  'openai-project',
  'x-goog-user-project',
  // the upstream would store it under the channel's credential, where the keys of two clients could collide
  'idempotency-key',
  // the client's own trace: the upstream could join it to calls of other accounts, and baggage can hold anything
  'traceparent',
  'tracestate',
  'baggage',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-parentspanid',
  'x-b3-sampled',
  'x-b3-flags',
  'uber-trace-id',
  'sentry-trace',
  'x-amzn-trace-id',
  'x-cloud-trace-context',
]);
/**
 * The second prefix is used by browsers for facts about a page, and by handshakes. The last one begins what clients tell
 * this service, such as their labels.
 */
const REMOVED_PREFIXES = ['x-forwarded-', 'sec-', 'access-control-', 'reelgate-'];

/** Lists the headers of a request that go to an upstream. Names and values alternate. */
export function listForwardedHeaders(rawHeaders: readonly string[], connection: string | undefined): readonly string[] {
  const named = listConnectionHeaders(connection);
  let hasType = false;
  const forwarded: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    const isRemoved =
      REMOVED[lower.length]?.includes(lower) === true ||
      REMOVED_PREFIXES.some((prefix) => lower.startsWith(prefix)) ||
      named?.has(lower) === true;
    if (isRemoved) continue;
    // the upstream could read a second content-type where the gateway has read the first
    if (lower === 'content-type' && hasType) continue;
    hasType ||= lower === 'content-type';
    forwarded.push(name, value);
  }
  return forwarded;
}

/** Header names are new strings for each request: comparing a few of equal length is faster than hashing each. */
function groupByLength(names: readonly string[]): readonly (readonly string[] | undefined)[] {
  const found: string[][] = [];
  for (const name of names) (found[name.length] ??= []).push(name);
  return found;
}

/** Headers of an answer that a client never gets. */
const HIDDEN: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'set-cookie',
  'set-cookie2',
  'server',
  'via',
  'date',
  'alt-svc',
  'nel',
  'report-to',
  'reporting-endpoints',
  'server-timing',
  'strict-transport-security',
  'location',
  'content-location',
  'link',
  'refresh',
  'x-powered-by',
  'x-cache',
  'x-served-by',
  'x-content-type-options',
  'x-ms-region',
  'x-ms-client-request-id',
  'azureml-model-session',
  'apim-request-id',
  'www-authenticate',
  'content-security-policy',
  'content-security-policy-report-only',
  // this gateway sets the permissions of pages itself
  'vary',
  'timing-allow-origin',
  'openai-model',
  'openai-version',
]);
const HIDDEN_PARTS = [
  /organi[sz]ation|project|account|request-?id|trace|ratelimit|rate-limit|correlation|upstream|backend/,
  /^access-control-|^cross-origin-|^cf-|^x-amz|^x-goog-|^x-envoy|^x-vercel|^x-azure|^x-kong|^x-forwarded/,
];

/** The maximum number of header names with a cached verdict. */
const NAMES_MAX = 1000;

/** The headers of an answer, or its trailers, that the client gets. */
export type AnswerHeaderFilter = (headers: IncomingHttpHeaders, identities: readonly string[]) => AnswerHeaders;

/**
 * Removes headers by their name, and any header with one of the identities in its value. It caches verdicts by name,
 * because an upstream sends few names.
 */
export function newAnswerHeaderFilter(): AnswerHeaderFilter {
  const shown = new Map<string, boolean>();
  const isShown = (name: string): boolean => {
    const known = shown.get(name);
    if (known !== undefined) return known;
    const lower = name.toLowerCase();
    const verdict = !HIDDEN.has(lower) && !HIDDEN_PARTS.some((part) => part.test(lower));
    if (shown.size < NAMES_MAX) shown.set(name, verdict);
    return verdict;
  };
  return (headers, identities) => {
    const named = listConnectionHeaders(headers.connection);
    const back: Record<string, string | readonly string[]> = {};
    for (const name in headers) {
      const value = headers[name];
      if (value === undefined || !isShown(name) || named?.has(name.toLowerCase()) === true) continue;
      const text = String(value);
      if (!identities.some((identity) => text.includes(identity))) back[name] = value;
    }
    return back;
  };
}
