import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client, Implementation } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { WebhookDeliverySchema, WebhookEndpointSchema, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookDelivery, WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { fakeEvents } from './fake-events.ts';
import type { FakeEvents } from './fake-events.ts';
import { fakeWebhookWork } from './fake-webhook-work.ts';
import type { FakeWebhookWork } from './fake-webhook-work.ts';

const SECRET = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=';
const MADE_AT_MS = Date.UTC(2026, 0, 1);

/** Endpoints and deliveries of the tasks service, in memory and without time. */
export interface FakeWebhooks {
  readonly client: Client<typeof WebhookService>;
  /** The methods that were called, with the account and the id of what they are about. */
  readonly calls: string[];
  readonly endpoints: Map<string, WebhookEndpoint>;
  readonly deliveries: Map<string, WebhookDelivery>;
  readonly events: FakeEvents;
  readonly work: Omit<FakeWebhookWork, 'methods'>;
  /** Makes the next call of the method fail. */
  refuse(method: string, problem: Error): void;
  addDelivery(delivery: MessageInitShape<typeof WebhookDeliverySchema>): void;
}

export function fakeWebhooks(): FakeWebhooks {
  const calls: string[] = [];
  const endpoints = new Map<string, WebhookEndpoint>();
  const deliveries = new Map<string, WebhookDelivery>();
  const refusals = new Map<string, Error>();
  const events = fakeEvents();
  const called = (method: string, ...what: readonly string[]): void => {
    calls.push([method, ...what].join(' '));
    const refusal = refusals.get(method);
    refusals.delete(method);
    if (refusal !== undefined) throw refusal;
  };
  const endpointOf = (accountId: string, id: string): WebhookEndpoint => {
    if (id === 'default') return create(WebhookEndpointSchema, { id, accountId });
    return owned(endpoints, accountId, id, 'webhook_endpoint_not_found');
  };
  const deliveryOf = (id: string): WebhookDelivery => {
    const delivery = deliveries.get(id);
    if (delivery !== undefined) return delivery;
    throw notFound('webhook_delivery_not_found');
  };
  const endpointMethods: Partial<Implementation<typeof WebhookService>> = {
    createWebhookEndpoint: async ({ accountId, name, url, eventTypes, payload }) => {
      called('create', accountId, url);
      const id = `whe_${endpoints.size + 1}`;
      const times = { createdAt: timestampFromMs(MADE_AT_MS), updatedAt: timestampFromMs(MADE_AT_MS) };
      const endpoint = create(WebhookEndpointSchema, { id, accountId, name, url, eventTypes, payload, ...times });
      endpoints.set(id, { ...endpoint, secretHint: 'whsec_AAAA…AAA=' });
      return { endpoint: endpoints.get(id)!, secret: SECRET };
    },
    getWebhookEndpoint: async ({ accountId, endpointId }) => {
      called('get', accountId, endpointId);
      return { endpoint: endpointOf(accountId, endpointId) };
    },
    listWebhookEndpoints: async ({ accountId, limit, after }) => {
      called('list', accountId, String(limit), after);
      const all = [...endpoints.values()].filter((one) => one.accountId === accountId).toReversed();
      return pageOf(all, limit, after, 'endpoints');
    },
    updateWebhookEndpoint: async ({ accountId, endpointId, name, url, eventTypes, payload, disabled }) => {
      called('update', accountId, endpointId);
      const { disabledAt, disabledReason, ...was } = endpointOf(accountId, endpointId);
      const isDisabled = disabled ?? disabledAt !== undefined;
      const endpoint: WebhookEndpoint = {
        ...was,
        name: name ?? was.name,
        url: url ?? was.url,
        eventTypes: eventTypes.length === 0 ? was.eventTypes : eventTypes,
        payload: payload === WebhookPayload.UNSPECIFIED ? was.payload : payload,
        disabledReason: isDisabled ? disabledReason || 'by_owner' : '',
        ...(isDisabled ? { disabledAt: disabledAt ?? timestampFromMs(MADE_AT_MS) } : {}),
      };
      endpoints.set(endpointId, endpoint);
      return { endpoint };
    },
    deleteWebhookEndpoint: async ({ accountId, endpointId }) => {
      called('delete', accountId, endpointId);
      endpointOf(accountId, endpointId);
      endpoints.delete(endpointId);
      return {};
    },
    rotateWebhookSecret: async ({ accountId, endpointId, keepOldSecret }) => {
      called('rotate', accountId, endpointId, String(keepOldSecret));
      return { endpoint: endpointOf(accountId, endpointId), secret: SECRET };
    },
    testWebhookEndpoint: async ({ accountId, endpointId, eventType }) => {
      called('test', accountId, endpointId, eventType);
      endpointOf(accountId, endpointId);
      return { statusCode: 204 };
    },
  };
  const deliveryMethods: Partial<Implementation<typeof WebhookService>> = {
    listWebhookDeliveries: async ({ accountId, endpointId, state, limit, after }) => {
      called('list_deliveries', accountId, endpointId, String(state), String(limit), after);
      endpointOf(accountId, endpointId);
      const all = [...deliveries.values()].filter((one) => one.endpointId === endpointId).toReversed();
      return pageOf(all, limit, after, 'deliveries');
    },
    listTaskWebhookDeliveries: async ({ accountId, subjectId }) => {
      called('list_about', accountId, subjectId);
      return { deliveries: [...deliveries.values()].filter((one) => one.subjectId === subjectId) };
    },
    getWebhookDelivery: async ({ accountId, deliveryId }) => {
      called('get_delivery', accountId, deliveryId);
      return { delivery: deliveryOf(deliveryId) };
    },
    resendWebhookDelivery: async ({ accountId, deliveryId }) => {
      called('resend', accountId, deliveryId);
      return { delivery: deliveryOf(deliveryId) };
    },
    resendFailedWebhookDeliveries: async ({ accountId, endpointId, since }) => {
      called('resend_failed', accountId, endpointId, String(since?.seconds));
      endpointOf(accountId, endpointId);
      return { resent: deliveries.size };
    },
  };
  const { methods: workMethods, ...work } = fakeWebhookWork();
  const implementation = { ...endpointMethods, ...deliveryMethods, ...workMethods, watchEvents: events.watch };
  return {
    client: directClient(WebhookService, partialService(WebhookService, implementation), aCaller()),
    calls,
    endpoints,
    deliveries,
    events,
    work,
    refuse: (method, problem) => {
      refusals.set(method, problem);
    },
    addDelivery: (delivery) => {
      deliveries.set(delivery.id ?? '', create(WebhookDeliverySchema, delivery));
    },
  };
}

function pageOf<T extends { readonly id: string }, N extends string>(
  all: readonly T[],
  limit: number,
  after: string,
  name: N,
): Record<N, T[]> & { readonly hasMore: boolean } {
  const start = after === '' ? 0 : all.findIndex(({ id }) => id === after) + 1;
  const page = { [name]: all.slice(start, start + limit) } as Record<N, T[]>;
  return { ...page, hasMore: all.length > start + limit };
}

function owned<T extends { readonly accountId: string }>(
  all: ReadonlyMap<string, T>,
  accountId: string,
  id: string,
  reason: string,
): T {
  const found = all.get(id);
  if (found?.accountId === accountId) return found;
  throw notFound(reason);
}

function notFound(reason: string): Problem {
  return new Problem({ kind: 'not_found', reason, message: 'there is no such thing' });
}
