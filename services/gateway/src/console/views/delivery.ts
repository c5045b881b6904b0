import type { Attempt, Delivery } from '../../../console/api/webhooks.ts';
import type { WebhookAttempt, WebhookDelivery } from '../../clients/webhook-delivery.ts';
import { present } from './present.ts';

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
    ...present({ lastStatus: lastStatusCode, lastError, nextAttemptAt, endedAt }),
    attempts: attempts.map(attemptView),
  };
}

function attemptView(attempt: WebhookAttempt): Attempt {
  const { number, at, durationMs, statusCode, error, requestHeaders, answerHead } = attempt;
  return {
    number,
    at: at ?? 0,
    durationMs,
    ...present({ status: statusCode, error }),
    requestHeaders,
    answer: answerHead,
  };
}
