import { readEnumName } from '../../dialects/wire/query-values.ts';
import { WIRE_STATES } from '../../clients/webhook-delivery.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { RouteEntry } from './route.ts';
import { WEBHOOK_BODIES, decodeSince, readOptionalBody } from './webhook-bodies.ts';
import { webhookEntry } from './webhook-entry.ts';
import { readDeliveryId, readEndpointId } from './webhook-ids.ts';
import { PAGE_PARAMETERS, readPage } from './webhook-page.ts';
import { WEBHOOK_ANSWERS, encodeDelivery, encodeListedDelivery, encodePage } from './webhook-shapes.ts';

const ENDPOINT = '/v1/webhook_endpoints/{webhook_endpoint_id}';
const DELIVERY = '/v1/webhook_deliveries/{webhook_delivery_id}';
/** The most deliveries that one request makes due again. */
const RESENT_MAX = 1000;

/** The routes that show the deliveries of an account and send them again. */
export function webhookDeliveryRoutes(parts: GatewayParts): RouteEntry[] {
  const { webhooks } = parts;
  return [
    listRoute(parts),
    resendFailedRoute(parts),
    webhookEntry({
      method: 'GET',
      path: DELIVERY,
      doc: {
        operationId: 'getWebhookDelivery',
        summary: 'Read a webhook delivery with its attempts',
        description: 'A delivery is kept for 30 days.',
        refuses: [404],
      },
      schema: WEBHOOK_ANSWERS.delivery,
      answer: async (exchange, caller) => encodeDelivery(await webhooks.getDelivery(caller, readDeliveryId(exchange))),
    }),
    webhookEntry({
      method: 'POST',
      path: `${DELIVERY}/resend`,
      doc: {
        operationId: 'resendWebhookDelivery',
        summary: 'Send a webhook delivery again now',
        description:
          'The event keeps its id, and the schedule of attempts begins anew, also of a delivery that is pending. ' +
          'An attempt that is under way is its first one.',
        refuses: [404, 409, 422],
      },
      schema: WEBHOOK_ANSWERS.delivery,
      answer: async (exchange, caller) => encodeDelivery(await webhooks.resend(caller, readDeliveryId(exchange))),
    }),
  ];
}

function listRoute({ webhooks }: GatewayParts): RouteEntry {
  return webhookEntry({
    method: 'GET',
    path: `${ENDPOINT}/deliveries`,
    doc: {
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook endpoint, or of `default`, newest first',
      parameters: [
        ...PAGE_PARAMETERS,
        { name: 'state', description: 'Only these.', schema: { enum: [...Object.keys(WIRE_STATES), ''] } },
      ],
      refuses: [400, 404],
    },
    schema: WEBHOOK_ANSWERS.deliveries,
    answer: async (exchange, caller) => {
      const query = new URLSearchParams(exchange.querystring);
      const page = { ...readPage(query), state: readEnumName(query, 'state', WIRE_STATES) };
      const { deliveries, hasMore } = await webhooks.listDeliveries(caller, readEndpointId(exchange), page);
      return encodePage(deliveries, hasMore, encodeListedDelivery);
    },
  });
}

function resendFailedRoute(parts: GatewayParts): RouteEntry {
  return webhookEntry({
    method: 'POST',
    path: `${ENDPOINT}/resend_failed`,
    doc: {
      operationId: 'resendFailedWebhookDeliveries',
      summary: 'Send the failed deliveries of a webhook endpoint, or of `default`, again now',
      description: 'Pending deliveries that wait for a later attempt are sent now too, and are counted.',
      json: WEBHOOK_BODIES.resend,
      refuses: [404, 409, 422],
    },
    schema: WEBHOOK_ANSWERS.resent,
    answer: async (exchange, caller) => {
      const id = readEndpointId(exchange);
      const since = decodeSince(await readOptionalBody(exchange, parts));
      const resent = await parts.webhooks.resendFailed(caller, id, since);
      return { object: 'webhook_endpoint.resent', webhook_endpoint_id: id, resent, has_more: resent >= RESENT_MAX };
    },
  });
}
