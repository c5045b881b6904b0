import type { IncomingHttpHeaders } from 'node:http';
import type { AnswerHeaders } from '../answers/call-sink.ts';

/** Of one connection, not of the message (RFC 9110, 7.6.1), or written anew for each. */
const HOP_BY_HOP = [
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

/** What stays here of a request: credentials, whose it is, where it came from, and what this hop decides by itself. */
const KEPT = byLength([
  ...HOP_BY_HOP,
  'host',
  'expect',
  'accept-encoding',
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
  'x-request-id',
  'openai-organization',
  'openai-project',
  'x-goog-user-project',
  // an upstream keeps these under our credential, where two clients' keys could meet
  'idempotency-key',
]);
const KEPT_PREFIX = 'x-forwarded-';

/** What never comes back of an answer, by its name. */
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
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'openai-model',
  'openai-version',
]);
const HIDDEN_PART =
  /organi[sz]ation|project|account|request-?id|trace|ratelimit|rate-limit|correlation|upstream|backend|^cf-|^x-amz|^x-goog-|^x-envoy|^x-vercel|^x-azure|^x-kong|^x-forwarded/;

/** Whether an answer's header comes back, remembered by name: upstreams have few. */
const shown = new Map<string, boolean>();
const SHOWN_MAX = 1000;

/** The headers of a request that go on to an upstream, names and values in turn. */
export function headersOn(rawHeaders: readonly string[], connection: string | undefined): readonly string[] {
  const named = namedIn(connection);
  let hasType = false;
  const on: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    if (KEPT[lower.length]?.includes(lower) === true || lower.startsWith(KEPT_PREFIX) || named?.has(lower) === true)
      continue;
    // a second one could be another reader's first
    if (lower === 'content-type' && hasType) continue;
    hasType ||= lower === 'content-type';
    on.push(name, value);
  }
  return on;
}

/** The headers of an answer that come back to the client. Of those that pass by name, any that holds an upstream's identity does not. */
export function headersBack(headers: IncomingHttpHeaders, identities: readonly string[]): AnswerHeaders {
  const named = namedIn(headers.connection);
  const back: Record<string, string | readonly string[]> = {};
  for (const name in headers) {
    const value = headers[name];
    if (
      value === undefined ||
      !comesBack(name) ||
      named?.has(name.toLowerCase()) === true ||
      tells(String(value), identities)
    )
      continue;
    back[name] = value;
  }
  return back;
}

/** Names as they come are new each time: to compare a few is quicker than to hash each. */
function byLength(names: readonly string[]): readonly (readonly string[] | undefined)[] {
  const found: string[][] = [];
  for (const name of names) (found[name.length] ??= []).push(name);
  return found;
}

/** What most of them say, which names nothing. */
const PLAIN: ReadonlySet<string> = new Set(['keep-alive', 'close', 'Keep-Alive']);

/** What a connection's own header makes hop-by-hop besides. */
function namedIn(connection: string | undefined): ReadonlySet<string> | undefined {
  return connection === undefined || PLAIN.has(connection)
    ? undefined
    : new Set(
        connection
          .toLowerCase()
          .split(',')
          .map((name) => name.trim()),
      );
}

function comesBack(name: string): boolean {
  const known = shown.get(name);
  if (known !== undefined) return known;
  const lower = name.toLowerCase();
  const verdict = !HIDDEN.has(lower) && !HIDDEN_PART.test(lower);
  if (shown.size < SHOWN_MAX) shown.set(name, verdict);
  return verdict;
}

function tells(value: string, identities: readonly string[]): boolean {
  return identities.some((identity) => value.includes(identity));
}
