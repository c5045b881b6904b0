import { WebhookDeliverySchema, WebhookEndpointSchema } from '@reelgate/proto/tasks/v1/webhook';
import type { DeliveryView, EndpointList, EndpointView } from '../../../console/api/webhooks.ts';
import { WIRE_STATES } from '../../clients/webhooks-client.ts';
import type { Webhooks } from '../../clients/webhooks-client.ts';
import { readEnumName } from '../../dialects/wire/query-values.ts';
import { EVENT_TYPES } from '../../clients/webhooks-client.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import {
  readDeliveryId,
  readEndpointId,
  unknownDelivery,
  readPage,
  requireWebhookCaller,
} from '../../webhooks/webhook-entry.ts';
import { consoleRoute } from '../console-route.ts';
import { toContractJson } from '../contract-json.ts';

const ENDPOINT = '/webhooks/{webhook_endpoint_id}';
/** More than an account may have. */
const ENDPOINTS_MAX = 100;
const DELIVERIES_MAX = 50;

interface WebhookParts {
  readonly webhooks: Webhooks;
}

/** The webhook endpoints of the account and their deliveries, for a token that may read them. */
export function webhooksRoutes(parts: WebhookParts): RouteEntry[] {
  return [
    consoleRoute({
      method: 'GET',
      path: '/webhooks',
      name: 'listEndpoints',
      answer: (exchange) => endpointList(parts, exchange),
    }),
    consoleRoute({
      method: 'GET',
      path: ENDPOINT,
      name: 'getEndpoint',
      answer: (exchange) => endpointPage(parts, exchange),
    }),
    consoleRoute({
      method: 'GET',
      path: `${ENDPOINT}/{webhook_delivery_id}`,
      name: 'getDelivery',
      answer: (exchange) => deliveryPage(parts, exchange),
    }),
  ];
}

/** The endpoints of the account, then `default`, which stands for the URLs that requests carry. */
async function endpointList({ webhooks }: WebhookParts, exchange: Exchange): Promise<EndpointList> {
  const caller = requireWebhookCaller(exchange, 'read');
  const [{ endpoints }, fallback] = await Promise.all([
    webhooks.list(caller, { limit: ENDPOINTS_MAX, after: undefined }),
    webhooks.get(caller, 'default'),
  ]);
  return {
    endpoints: [...endpoints, fallback].map((one) => toContractJson(WebhookEndpointSchema, one)),
    eventTypes: EVENT_TYPES,
    canChange: canChange(exchange),
  };
}

async function endpointPage({ webhooks }: WebhookParts, exchange: Exchange): Promise<EndpointView> {
  const caller = requireWebhookCaller(exchange, 'read');
  const [id, query] = [readEndpointId(exchange), new URLSearchParams(exchange.querystring)];
  const page = {
    after: readPage(query).after,
    limit: DELIVERIES_MAX,
    state: readEnumName(query, 'state', WIRE_STATES),
  };
  const [endpoint, { deliveries, hasMore }] = await Promise.all([
    webhooks.get(caller, id),
    webhooks.listDeliveries(caller, id, page),
  ]);
  const last = deliveries.at(-1);
  return {
    endpoint: toContractJson(WebhookEndpointSchema, endpoint),
    deliveries: deliveries.map((one) => toContractJson(WebhookDeliverySchema, one)),
    ...(hasMore && last !== undefined ? { after: last.id } : {}),
    eventTypes: EVENT_TYPES,
    canChange: canChange(exchange),
  };
}

async function deliveryPage({ webhooks }: WebhookParts, exchange: Exchange): Promise<DeliveryView> {
  const caller = requireWebhookCaller(exchange, 'read');
  const [endpointId, id] = [readEndpointId(exchange), readDeliveryId(exchange)];
  const delivery = await webhooks.getDelivery(caller, id);
  if (delivery.endpointId !== endpointId) throw unknownDelivery();
  return { delivery: toContractJson(WebhookDeliverySchema, delivery), canChange: canChange(exchange) };
}

function canChange(exchange: Exchange): boolean {
  return requirePrincipal(exchange).webhooks === 'write';
}
