import { isDeepStrictEqual } from 'node:util';
import type { Schema } from '../domain/schema.ts';
import { chooseEnvelope, ENVELOPES } from '../problems/envelopes.ts';
import type { EnvelopeName } from '../dialects/dialect.ts';
import { WITH_TOKEN, listRefusalStatuses } from '../http/routes/route.ts';
import type { RefusedStatus, RouteEntry } from '../http/routes/route.ts';
import { LIMIT_HEADERS } from '../http/response-headers.ts';
import type { ResponseHeader } from '../http/response-headers.ts';
import { buildHeaderRefs } from './share-components.ts';

const UPSTREAM: Schema = {
  title: 'UpstreamError',
  type: ['object', 'array'],
  description: "The upstream's own error, without anything that identifies the upstream.",
};
/** A refusal of a relayed call can come from the upstream, so that its exact shape is open on every path. */
const RELAYED: Schema = {
  title: 'RelayedError',
  description: "The gateway's own error in the shape of the path's API, or the upstream's.",
  anyOf: [
    ...(['openai', 'anthropic', 'google', 'openrouter'] as const).map((name) => ENVELOPES[name].schema),
    UPSTREAM,
  ],
};

const DESCRIPTIONS: Readonly<Record<RefusedStatus, string>> = {
  400: 'The request is invalid; the message names the field.',
  401: 'The token is missing or unknown.',
  402: 'The balance is exhausted.',
  403: 'The token is disabled or expired or has no right to this, or the link is invalid.',
  404: 'The task, model or path does not exist, or the token has no access to it.',
  405: 'The path does not support this method.',
  408: 'The body stopped, or arrived too slowly.',
  409: 'The current state does not allow the request, or the idempotency key is in use.',
  410: 'The result, or the place in the stream of events, has expired.',
  412: 'A precondition of the request does not hold.',
  413: 'The body is too large.',
  415: 'The media type of the body is not supported.',
  416: 'The range is outside the bytes.',
  422: 'The content is refused, a limit of the account is reached, or the idempotency key belongs to another body.',
  424: 'The service failed, and the work may have been done: a repeat may be paid for twice.',
  426: 'The request does not ask for a WebSocket.',
  429: 'A rate limit, a cap or the balance is exhausted.',
  500: 'Internal error.',
  501: 'Not implemented.',
  502: 'The connection to the upstream broke before an answer; the work may have been done.',
  503: 'A part of the service, or every channel of the model, is unavailable.',
  504: 'The upstream did not answer in time; the work may have been done.',
};

const MORE_HEADERS: Readonly<Partial<Record<RefusedStatus, readonly ResponseHeader[]>>> = {
  401: ['www-authenticate'],
  402: ['x-should-retry'],
  409: ['retry-after', 'x-should-retry'],
  416: ['content-range'],
  424: ['retry-after', 'x-should-retry'],
  426: ['upgrade'],
  429: ['retry-after', 'x-should-retry'],
  500: ['x-should-retry'],
  501: ['x-should-retry'],
  502: ['retry-after', 'x-should-retry'],
  503: ['retry-after', 'x-should-retry'],
  504: ['retry-after', 'x-should-retry'],
};

/** The refusals of a relayed call that never come from an upstream. */
const OWN: ReadonlySet<number> = new Set(WITH_TOKEN.filter((status) => status !== 429));

/** The part of a component's name that stands for a status. */
const NAMES: Readonly<Record<RefusedStatus, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  402: 'PaymentRequired',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  413: 'ContentTooLarge',
  415: 'UnsupportedMediaType',
  416: 'RangeNotSatisfiable',
  422: 'UnprocessableContent',
  424: 'FailedDependency',
  426: 'UpgradeRequired',
  429: 'TooManyRequests',
  500: 'InternalError',
  501: 'NotImplemented',
  502: 'BadGateway',
  503: 'Unavailable',
  504: 'GatewayTimeout',
};
const ENVELOPE_NAMES: Readonly<Record<EnvelopeName, string>> = {
  openai: '',
  vendor: 'Vendor',
  anthropic: 'Messages',
  google: 'Google',
  mcp: 'Mcp',
  openrouter: 'OpenRouter',
};

interface ErrorResponse {
  readonly status: string;
  /** The name of its component. */
  readonly name: string;
  readonly response: object;
}

/** Returns references to the refusals of a route, by status. */
export function referToErrors(entry: RouteEntry): Readonly<Record<string, { readonly $ref: string }>> {
  return Object.fromEntries(
    listErrors(entry).map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}

/** Returns the refusals of all routes by the names of their components. Throws if one name has two meanings. */
export function collectErrors(routes: readonly RouteEntry[]): Readonly<Record<string, object>> {
  const collected = new Map<string, object>();
  for (const { name, response } of routes.flatMap(listErrors)) {
    const known = collected.get(name);
    if (known !== undefined && !isDeepStrictEqual(known, response))
      throw new Error(`two responses have the name ${name}`);
    collected.set(name, response);
  }
  return Object.fromEntries([...collected].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Lists the refusals of a route. An upstream can refuse with any 4xx. */
function listErrors(entry: RouteEntry): readonly ErrorResponse[] {
  const own = [...listRefusalStatuses(entry)]
    .toSorted((one, other) => one - other)
    .map((status) => describeError(entry, status));
  if (entry.doc.isRelayed !== true) return own;
  const response = buildResponse(entry, 400, UPSTREAM);
  const refused = { ...response, description: 'The upstream refused the request.' };
  return [...own, { status: '4XX', name: 'RefusedByUpstream', response: refused }];
}

function describeError(entry: RouteEntry, status: RefusedStatus): ErrorResponse {
  if (entry.doc.isRelayed === true && !OWN.has(status))
    return { status: String(status), name: `${NAMES[status]}Relayed`, response: buildResponse(entry, status, RELAYED) };
  const families = entry.doc.envelopes ?? [chooseEnvelope(entry.path)];
  const all = families.map((name) => ENVELOPES[name].schema);
  const [only] = all;
  const name = [
    NAMES[status],
    ...families.map((family) => ENVELOPE_NAMES[family]),
    entry.token === undefined ? 'WithoutToken' : '',
  ].join('');
  const title = all.map((one) => one['title']).join('Or');
  const schema = all.length === 1 && only !== undefined ? only : { title, anyOf: all };
  return { status: String(status), name, response: buildResponse(entry, status, schema) };
}

function buildResponse({ token }: RouteEntry, status: RefusedStatus, schema: Schema): object {
  const names: ResponseHeader[] = [
    'x-request-id',
    ...(token === undefined || status === 401 ? [] : LIMIT_HEADERS),
    ...(MORE_HEADERS[status] ?? []),
  ];
  return {
    description: DESCRIPTIONS[status],
    headers: buildHeaderRefs(names),
    content: { 'application/json': { schema } },
  };
}
