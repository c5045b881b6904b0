import type { IncomingHttpHeaders } from 'node:http';
import { HOP_BY_HOP, listConnectionHeaders } from '../hop-by-hop.ts';
import type { AnswerHeaders } from './call-sink.ts';

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
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'openai-model',
  'openai-version',
]);
const HIDDEN_PARTS = [
  /organi[sz]ation|project|account|request-?id|trace|ratelimit|rate-limit|correlation|upstream|backend/,
  /^cf-|^x-amz|^x-goog-|^x-envoy|^x-vercel|^x-azure|^x-kong|^x-forwarded/,
];

/** The most header names whose verdict is cached. */
const NAMES_MAX = 1000;

/** The headers of an answer, or its trailers, that the client gets. */
export type AnswerHeaderFilter = (headers: IncomingHttpHeaders, identities: readonly string[]) => AnswerHeaders;

/**
 * Removes headers by their name, and any header whose value contains one of the identities. It caches verdicts by name,
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
