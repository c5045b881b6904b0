import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import { isoTime } from './times.ts';

export const PAYLOADS: Readonly<Record<string, WebhookPayload>> = deriveValues(WebhookPayload);
const PAYLOAD_WORDS: Readonly<Record<number, string | undefined>> = deriveWords(WebhookPayload);
export const DELIVERY_STATES: Readonly<Record<string, WebhookDeliveryState>> = deriveValues(WebhookDeliveryState);
const DELIVERY_STATE_WORDS: Readonly<Record<number, string | undefined>> = deriveWords(WebhookDeliveryState);

export function payloadName(payload: WebhookPayload): string {
  return PAYLOAD_WORDS[payload] ?? '';
}

export function deliveryStateName(state: WebhookDeliveryState): string {
  return DELIVERY_STATE_WORDS[state] ?? '';
}

/** An endpoint without its secret. */
export function toEndpointJson(endpoint: WebhookEndpoint | undefined): object {
  if (endpoint === undefined) return {};
  return {
    id: endpoint.id,
    account: endpoint.accountId,
    name: endpoint.name,
    url: endpoint.url || undefined,
    events: endpoint.eventTypes,
    payload: payloadName(endpoint.payload) || undefined,
    status: endpoint.disabledAt === undefined ? 'enabled' : 'disabled',
    disabled_reason: endpoint.disabledReason || undefined,
    disabled_at: isoTime(endpoint.disabledAt),
    secret_hint: endpoint.secretHint || undefined,
    created_at: isoTime(endpoint.createdAt),
    updated_at: isoTime(endpoint.updatedAt),
    last_success_at: isoTime(endpoint.lastSuccessAt),
    last_failure_at: isoTime(endpoint.lastFailureAt),
    failing_since: isoTime(endpoint.failingSince),
  };
}

/** A delivery, with its attempts if it has them. */
export function toDeliveryJson(delivery: WebhookDelivery | undefined): object {
  if (delivery === undefined) return {};
  return {
    id: delivery.id,
    endpoint: delivery.endpointId,
    url: delivery.url,
    event: delivery.eventId,
    type: delivery.eventType,
    subject: delivery.subjectId,
    state: deliveryStateName(delivery.state),
    attempt_count: delivery.attemptCount,
    status_code: delivery.lastStatusCode || undefined,
    error: delivery.lastError || undefined,
    created_at: isoTime(delivery.createdAt),
    next_attempt_at: isoTime(delivery.nextAttemptAt),
    ended_at: isoTime(delivery.endedAt),
    ...(delivery.attempts.length === 0 ? {} : { attempts: delivery.attempts.map(toDeliveryAttemptJson) }),
  };
}

function toDeliveryAttemptJson(attempt: WebhookAttempt): object {
  return {
    number: attempt.number,
    at: isoTime(attempt.at),
    took_ms: Number(attempt.durationMs),
    status_code: attempt.statusCode || undefined,
    error: attempt.error || undefined,
    request_headers: attempt.requestHeaders,
    answer_head: attempt.answerHead,
  };
}
