import type { Attempt, Delivery, Endpoint } from '../../../console/api/webhooks.ts';
import type { WebhookAttempt, WebhookDelivery } from '../../clients/webhook-delivery.ts';
import type { WebhookEndpoint } from '../../clients/webhook-endpoint.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

/** A delivery of a webhook. */
export function deliveryView(delivery: WebhookDelivery): Delivery {
  const { id, endpointId, url, eventId, eventType, subjectId, state, attemptCount } = delivery;
  const { lastStatusCode, lastError, createdAt, nextAttemptAt, endedAt, attempts } = delivery;
  return {
    id,
    endpointId,
    url,
    eventId,
    eventType,
    subjectId,
    state,
    attemptCount,
    createdAt: createdAt ?? 0,
    ...dropUndefined({ lastStatus: lastStatusCode, lastError, nextAttemptAt, endedAt }),
    attempts: attempts.map(attemptView),
  };
}

function attemptView(attempt: WebhookAttempt): Attempt {
  const { number, at, durationMs, statusCode, error, requestHeaders, answerHead } = attempt;
  return {
    number,
    at: at ?? 0,
    durationMs,
    ...dropUndefined({ status: statusCode, error }),
    requestHeaders,
    answer: answerHead,
  };
}

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
