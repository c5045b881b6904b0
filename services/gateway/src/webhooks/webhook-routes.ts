import { EVENT_TYPES, WIRE_STATES } from '../clients/webhooks-client.ts';
import { readEnumName } from '../dialects/wire/query-values.ts';
import type { Webhooks } from '../clients/webhooks-client.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import {
  WEBHOOK_BODIES,
  decodeCreate,
  decodeRotation,
  decodeSince,
  decodeTest,
  decodeUpdate,
  readOptionalBody,
} from './webhook-bodies.ts';
import { PAGE_PARAMETERS, readDeliveryId, readEndpointId, readPage, webhookEntry } from './webhook-entry.ts';
import {
  WEBHOOK_ANSWERS,
  encodeDelivery,
  encodeEndpoint,
  encodeListedDelivery,
  encodeWithSecret,
} from './webhook-shapes.ts';
import { encodePage } from '../dialects/wire/list-page.ts';

const ENDPOINTS = '/v1/webhook_endpoints';
const ENDPOINT = `${ENDPOINTS}/{webhook_endpoint_id}`;
const DELIVERY = '/v1/webhook_deliveries/{webhook_delivery_id}';
/** The most deliveries that one request makes due again. */
const RESENT_MAX = 1000;

/** The parts that the routes of webhooks need. */
export interface WebhookRouteParts extends BodyBounds {
  readonly webhooks: Webhooks;
}

/** The webhook endpoints of an account, with the contract of OpenAI's clients, and their deliveries. */
export function webhookRoutes(parts: WebhookRouteParts): RouteEntry[] {
  return [
    ...collectionRoutes(parts),
    ...endpointRoutes(parts),
    ...secretRoutes(parts),
    eventTypesRoute(),
    ...deliveryRoutes(parts),
  ];
}

function collectionRoutes(parts: WebhookRouteParts): RouteEntry[] {
  const { webhooks } = parts;
  return [
    webhookEntry({
      method: 'POST',
      path: ENDPOINTS,
      doc: {
        operationId: 'createWebhookEndpoint',
        summary: 'Create a webhook endpoint',
        description: 'An account has at most 20 endpoints. Only this answer and a rotation have the signing secret.',
        json: WEBHOOK_BODIES.create,
        refuses: [422],
      },
      answer: WEBHOOK_ANSWERS.endpointWithSecret,
      respond: async (exchange, caller) =>
        encodeWithSecret(await webhooks.create(caller, decodeCreate(await readOptionalBody(exchange, parts)))),
    }),
    webhookEntry({
      method: 'GET',
      path: ENDPOINTS,
      doc: {
        operationId: 'listWebhookEndpoints',
        summary: 'List the webhook endpoints, newest first',
        parameters: PAGE_PARAMETERS,
        refuses: [400],
      },
      answer: WEBHOOK_ANSWERS.endpoints,
      respond: async ({ querystring }, caller) => {
        const { endpoints, hasMore } = await webhooks.list(caller, readPage(new URLSearchParams(querystring)));
        return encodePage(endpoints, hasMore, encodeEndpoint);
      },
    }),
  ];
}

function endpointRoutes(parts: WebhookRouteParts): RouteEntry[] {
  const { webhooks } = parts;
  return [
    webhookEntry({
      method: 'GET',
      path: ENDPOINT,
      doc: {
        operationId: 'getWebhookEndpoint',
        summary: 'Read a webhook endpoint',
        description: 'The id `default` names the URLs that requests carry in `webhook_url`.',
        refuses: [404],
      },
      answer: WEBHOOK_ANSWERS.endpoint,
      respond: async (exchange, caller) => encodeEndpoint(await webhooks.get(caller, readEndpointId(exchange))),
    }),
    webhookEntry({
      method: 'POST',
      path: ENDPOINT,
      doc: {
        operationId: 'updateWebhookEndpoint',
        summary: 'Change a webhook endpoint',
        description: 'A new URL enables a disabled endpoint again.',
        json: WEBHOOK_BODIES.update,
        refuses: [404, 422],
      },
      answer: WEBHOOK_ANSWERS.endpoint,
      respond: async (exchange, caller) => {
        const change = decodeUpdate(await readOptionalBody(exchange, parts));
        return encodeEndpoint(await webhooks.update(caller, readEndpointId(exchange), change));
      },
    }),
    webhookEntry({
      method: 'DELETE',
      path: ENDPOINT,
      doc: {
        operationId: 'deleteWebhookEndpoint',
        summary: 'Delete a webhook endpoint',
        description: 'Its pending deliveries end.',
        refuses: [400, 404],
      },
      answer: WEBHOOK_ANSWERS.deleted,
      respond: async (exchange, caller) => {
        const id = readEndpointId(exchange);
        await webhooks.remove(caller, id);
        return { id, object: 'webhook_endpoint.deleted', deleted: true };
      },
    }),
  ];
}

function secretRoutes(parts: WebhookRouteParts): RouteEntry[] {
  const { webhooks } = parts;
  return [
    webhookEntry({
      method: 'POST',
      path: `${ENDPOINT}/rotate_secret`,
      doc: {
        operationId: 'rotateWebhookSecret',
        summary: 'Replace the signing secret of a webhook endpoint, or of `default`',
        json: WEBHOOK_BODIES.rotate,
        refuses: [404],
      },
      answer: WEBHOOK_ANSWERS.endpointWithSecret,
      respond: async (exchange, caller) => {
        const how = decodeRotation(await readOptionalBody(exchange, parts));
        return encodeWithSecret(await webhooks.rotateSecret(caller, readEndpointId(exchange), how));
      },
    }),
    webhookEntry({
      method: 'POST',
      path: `${ENDPOINT}/test`,
      doc: {
        operationId: 'testWebhookEndpoint',
        summary: 'Send a sample event to a webhook endpoint now',
        description: 'A receiver that gives no answer is refused with 422 `webhook_not_reached`.',
        json: WEBHOOK_BODIES.test,
        refuses: [404, 422],
      },
      answer: WEBHOOK_ANSWERS.test,
      respond: async (exchange, caller) => {
        const [id, type] = [readEndpointId(exchange), decodeTest(await readOptionalBody(exchange, parts))];
        const statusCode = await webhooks.test(caller, id, type);
        return {
          object: 'webhook_endpoint.test',
          webhook_endpoint_id: id,
          event_type: type,
          success: true,
          status_code: statusCode,
        };
      },
    }),
  ];
}

function eventTypesRoute(): RouteEntry {
  return webhookEntry({
    method: 'GET',
    path: '/v1/webhook_event_types',
    doc: { operationId: 'listWebhookEventTypes', summary: 'List the types of events' },
    answer: WEBHOOK_ANSWERS.eventTypes,
    respond: () => ({ object: 'list', data: EVENT_TYPES }),
  });
}

/** The routes that show the deliveries of an account and send them again. */
function deliveryRoutes(parts: WebhookRouteParts): RouteEntry[] {
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
      answer: WEBHOOK_ANSWERS.delivery,
      respond: async (exchange, caller) => encodeDelivery(await webhooks.getDelivery(caller, readDeliveryId(exchange))),
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
      answer: WEBHOOK_ANSWERS.delivery,
      respond: async (exchange, caller) => encodeDelivery(await webhooks.resend(caller, readDeliveryId(exchange))),
    }),
  ];
}

function listRoute({ webhooks }: WebhookRouteParts): RouteEntry {
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
    answer: WEBHOOK_ANSWERS.deliveries,
    respond: async (exchange, caller) => {
      const query = new URLSearchParams(exchange.querystring);
      const page = { ...readPage(query), state: readEnumName(query, 'state', WIRE_STATES) };
      const { deliveries, hasMore } = await webhooks.listDeliveries(caller, readEndpointId(exchange), page);
      return encodePage(deliveries, hasMore, encodeListedDelivery);
    },
  });
}

function resendFailedRoute(parts: WebhookRouteParts): RouteEntry {
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
    answer: WEBHOOK_ANSWERS.resent,
    respond: async (exchange, caller) => {
      const id = readEndpointId(exchange);
      const since = decodeSince(await readOptionalBody(exchange, parts));
      const resent = await parts.webhooks.resendFailed(caller, id, since);
      return { object: 'webhook_endpoint.resent', webhook_endpoint_id: id, resent, has_more: resent >= RESENT_MAX };
    },
  });
}
