import type { Endpoint } from '../../../console/api/webhooks.ts';
import type { WebhookEndpoint } from '../../clients/webhook-endpoint.ts';

/** An endpoint of webhooks, without its secret. */
export function endpointView(endpoint: WebhookEndpoint): Endpoint {
  const { id, name, url, eventTypes, payload, secretHint = '', disabled } = endpoint;
  const { createdAt, lastSuccessAt, lastFailureAt, failingSince } = endpoint;
  return {
    id,
    name,
    url,
    eventTypes,
    payload,
    secretHint,
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(disabled === undefined ? {} : { disabledAt: disabled.at, disabledReason: disabled.reason }),
    ...(lastSuccessAt === undefined ? {} : { lastSuccessAt }),
    ...(lastFailureAt === undefined ? {} : { lastFailureAt }),
    ...(failingSince === undefined ? {} : { failingSince }),
  };
}
