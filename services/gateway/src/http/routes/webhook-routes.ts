import { EVENT_TYPES } from '../../domain/event-types.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { RouteEntry } from './route.ts';
import {
  WEBHOOK_BODIES,
  decodeCreate,
  decodeRotation,
  decodeTest,
  decodeUpdate,
  readOptionalBody,
} from './webhook-bodies.ts';
import { webhookEntry } from './webhook-entry.ts';
import { readEndpointId } from './webhook-ids.ts';
import { PAGE_PARAMETERS, readPage } from './webhook-page.ts';
import { WEBHOOK_ANSWERS, encodeEndpoint, encodePage, encodeWithSecret } from './webhook-shapes.ts';

const ENDPOINTS = '/v1/webhook_endpoints';
const ENDPOINT = `${ENDPOINTS}/{webhook_endpoint_id}`;

/** The webhook endpoints of an account, with the contract of OpenAI's clients. */
export function webhookRoutes(parts: GatewayParts): RouteEntry[] {
  return [...collectionRoutes(parts), ...endpointRoutes(parts), ...secretRoutes(parts), eventTypesRoute()];
}

function collectionRoutes(parts: GatewayParts): RouteEntry[] {
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
      schema: WEBHOOK_ANSWERS.endpointWithSecret,
      answer: async (exchange, caller) =>
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
      schema: WEBHOOK_ANSWERS.endpoints,
      answer: async ({ querystring }, caller) => {
        const { endpoints, hasMore } = await webhooks.list(caller, readPage(new URLSearchParams(querystring)));
        return encodePage(endpoints, hasMore, encodeEndpoint);
      },
    }),
  ];
}

function endpointRoutes(parts: GatewayParts): RouteEntry[] {
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
      schema: WEBHOOK_ANSWERS.endpoint,
      answer: async (exchange, caller) => encodeEndpoint(await webhooks.get(caller, readEndpointId(exchange))),
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
      schema: WEBHOOK_ANSWERS.endpoint,
      answer: async (exchange, caller) => {
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
      schema: WEBHOOK_ANSWERS.deleted,
      answer: async (exchange, caller) => {
        const id = readEndpointId(exchange);
        await webhooks.remove(caller, id);
        return { id, object: 'webhook_endpoint.deleted', deleted: true };
      },
    }),
  ];
}

function secretRoutes(parts: GatewayParts): RouteEntry[] {
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
      schema: WEBHOOK_ANSWERS.endpointWithSecret,
      answer: async (exchange, caller) => {
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
      schema: WEBHOOK_ANSWERS.test,
      answer: async (exchange, caller) => {
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
    schema: WEBHOOK_ANSWERS.eventTypes,
    answer: () => ({ object: 'list', data: EVENT_TYPES }),
  });
}
