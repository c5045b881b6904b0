import type { Problem } from '@reelgate/platform/problem';
import type { PageRequest, WebhookCaller } from '../clients/webhooks-client.ts';
import type { QueryParameter } from '../dialects/dialect.ts';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Schema, TypeOf } from '../domain/schema.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { readWholeNumber } from '../dialects/wire/query-values.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';
import { jsonRoute } from '../http/routes/route.ts';
import type { Method, RouteDoc, RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

const LIMIT = { min: 1, max: 100, fallback: 20 };
/** The query of a list, the newest entry first. */
export const PAGE_PARAMETERS: readonly QueryParameter[] = [
  {
    name: 'after',
    description: 'Start after this entry.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{0,64}$' },
  },
  {
    name: 'limit',
    description: 'The number of entries on a page.',
    schema: { type: 'integer', minimum: LIMIT.min, maximum: LIMIT.max, default: LIMIT.fallback },
  },
];

const REFUSALS = {
  read: 'this token may not read webhooks; use a token with the right webhooks: read or write',
  write: 'this token may not change webhooks; use a token with the right webhooks: write',
} as const;

/** A route about webhooks. A GET needs the right to read them, any other method the right to change them. */
export interface WebhookRoute<S extends Schema, Body extends TypeOf<S> & object> {
  readonly method: Method;
  readonly path: string;
  readonly doc: Omit<RouteDoc, 'tag' | 'answers'>;
  readonly answer: S;
  readonly respond: (exchange: Exchange, caller: WebhookCaller) => MaybePromise<Body>;
}

export function webhookEntry<const S extends Schema, const Body extends TypeOf<S> & object>({
  method,
  path,
  doc,
  answer,
  respond,
}: WebhookRoute<S, Body>): RouteEntry {
  const isRead = method === 'GET';
  return jsonRoute<S, Body>({
    kind: isRead ? 'read' : 'change',
    methods: [method],
    path,
    token: { counts: isRead ? 'reads' : 'calls' },
    doc: { ...doc, tag: 'Webhooks' },
    answer,
    respond: (exchange) => respond(exchange, requireWebhookCaller(exchange, isRead ? 'read' : 'write')),
  });
}

/** The caller, if its token may read or change webhooks; otherwise refuses with a Problem. */
export function requireWebhookCaller(exchange: Exchange, use: keyof typeof REFUSALS): WebhookCaller {
  const { accountId, webhooks } = requirePrincipal(exchange);
  if (webhooks !== 'write' && webhooks !== use) throw refuse('webhooks_not_allowed', { message: REFUSALS[use] });
  const { requestId, span } = exchange.state;
  return { accountId, requestId, span };
}

/** Reads the parameter `{webhook_endpoint_id}` of a path. Refuses an impossible id without a call. */
export function readEndpointId({ params }: Exchange): string {
  const { webhook_endpoint_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw refuse('webhook_endpoint_not_found');
}

/** Reads the parameter `{webhook_delivery_id}` in the same way. */
export function readDeliveryId({ params }: Exchange): string {
  const { webhook_delivery_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw unknownDelivery();
}

export function unknownDelivery(): Problem {
  return refuse('webhook_delivery_not_found');
}

export function readPage(query: URLSearchParams): PageRequest {
  const after = query.get('after') || undefined;
  if (after !== undefined && !PLAUSIBLE_ID.test(after))
    throw invalid('after', 'must be the id of the last entry of the page before', 'invalid_request');
  return { limit: readWholeNumber(query, 'limit', LIMIT), after };
}
