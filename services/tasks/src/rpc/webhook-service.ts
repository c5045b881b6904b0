import { timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import {
  listDeliveries,
  listDeliveriesAbout,
  resendDelivery,
  resendFailed,
  showDelivery,
} from '../operations/webhooks/manage-deliveries.ts';
import { createEndpoint, deleteEndpoint, updateEndpoint } from '../operations/webhooks/manage-endpoints.ts';
import { getEndpoint, listEndpoints } from '../operations/webhooks/manage-endpoints.ts';
import { rotateSecret } from '../operations/webhooks/manage-endpoints.ts';
import { testEndpoint } from '../operations/webhooks/test-endpoint.ts';
import type { WebhookDeps } from '../operations/webhooks/webhook-deps.ts';
import { fromWireDeliveryState, fromWirePayload, toWireDelivery, toWireEndpoint } from './mapping-webhook.ts';
import { emptyToUndefined, readLimit } from './request-fields.ts';
import { deliveryMethods } from './webhook-delivery-methods.ts';
import type { DeliveryMethodDeps } from './webhook-delivery-methods.ts';

const LIST_LIMIT = 20;

export function webhookService(deps: WebhookDeps & DeliveryMethodDeps): Implementation<typeof WebhookService> {
  return { ...endpointMethods(deps), ...deliveryMethods(deps) };
}

/** The methods for owners. Each method converts from the wire, runs an operation and converts to the wire. */
export function endpointMethods(deps: WebhookDeps) {
  return {
    createWebhookEndpoint: async ({ accountId, name, url, eventTypes, payload }) => {
      const { endpoint, secret } = await createEndpoint(deps, {
        accountId,
        name,
        url,
        eventTypes,
        payload: fromWirePayload(payload) ?? 'thin',
      });
      return { endpoint: toWireEndpoint(endpoint), secret: secret.reveal() };
    },
    getWebhookEndpoint: async ({ accountId, endpointId }) => ({
      endpoint: toWireEndpoint(await getEndpoint(deps, accountId, endpointId)),
    }),
    listWebhookEndpoints: async ({ accountId, ...page }) => {
      const { endpoints, hasMore } = await listEndpoints(deps, accountId, toPage(page));
      return { endpoints: endpoints.map(toWireEndpoint), hasMore };
    },
    updateWebhookEndpoint: async ({ accountId, endpointId, name, url, eventTypes, payload, disabled }) => ({
      endpoint: toWireEndpoint(
        await updateEndpoint(deps, accountId, endpointId, {
          name,
          url,
          eventTypes: eventTypes.length === 0 ? undefined : eventTypes,
          payload: fromWirePayload(payload),
          disabled,
        }),
      ),
    }),
    deleteWebhookEndpoint: async ({ accountId, endpointId }) => {
      await deleteEndpoint(deps, accountId, endpointId);
      return {};
    },
    rotateWebhookSecret: async ({ accountId, endpointId, keepOldSecret: keepOld }) => {
      const { endpoint, secret } = await rotateSecret(deps, { accountId, endpointId }, { keepOld });
      return { endpoint: toWireEndpoint(endpoint), secret: secret.reveal() };
    },
    testWebhookEndpoint: async ({ accountId, endpointId, eventType }, { signal, span }) => ({
      statusCode: await testEndpoint(deps, { accountId, endpointId }, eventType, { signal, span }),
    }),
    ...ownersDeliveries(deps),
  } satisfies Partial<Implementation<typeof WebhookService>>;
}

/** The deliveries as their owners read them and send them again. */
function ownersDeliveries(deps: WebhookDeps) {
  return {
    listWebhookDeliveries: async ({ accountId, endpointId, state, ...page }) => {
      const filter = { accountId, endpointId, state: fromWireDeliveryState(state) };
      const { deliveries, hasMore } = await listDeliveries(deps, filter, toPage(page));
      return { deliveries: deliveries.map((delivery) => toWireDelivery(delivery)), hasMore };
    },
    listTaskWebhookDeliveries: async ({ accountId, subjectId }) => {
      const shown = await listDeliveriesAbout(deps, accountId, subjectId);
      return { deliveries: shown.map(({ delivery, attempts }) => toWireDelivery(delivery, attempts)) };
    },
    getWebhookDelivery: async ({ accountId, deliveryId }) => {
      const { delivery, attempts } = await showDelivery(deps, accountId, deliveryId);
      return { delivery: toWireDelivery(delivery, attempts) };
    },
    resendWebhookDelivery: async ({ accountId, deliveryId }) => {
      const { delivery, attempts } = await resendDelivery(deps, accountId, deliveryId);
      return { delivery: toWireDelivery(delivery, attempts) };
    },
    resendFailedWebhookDeliveries: async ({ accountId, endpointId, since }) => ({
      resent: await resendFailed(deps, { accountId, endpointId }, timestampMs(requireField(since, 'since'))),
    }),
  } satisfies Partial<Implementation<typeof WebhookService>>;
}

function toPage({ limit, after }: { readonly limit: number; readonly after: string }) {
  return { limit: readLimit(limit, LIST_LIMIT), after: emptyToUndefined(after) };
}
