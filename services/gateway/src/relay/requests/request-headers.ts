import { HOP_BY_HOP, listConnectionHeaders } from '../hop-by-hop.ts';

/** Headers that are not forwarded: credentials, identities, origins, and headers that belong to this hop. */
const REMOVED = groupByLength([
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
const REMOVED_PREFIX = 'x-forwarded-';

/** Lists the headers of a request that go to an upstream. Names and values alternate. */
export function listForwardedHeaders(rawHeaders: readonly string[], connection: string | undefined): readonly string[] {
  const named = listConnectionHeaders(connection);
  let hasType = false;
  const forwarded: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]];
    const lower = name.toLowerCase();
    const isRemoved =
      REMOVED[lower.length]?.includes(lower) === true || lower.startsWith(REMOVED_PREFIX) || named?.has(lower) === true;
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
