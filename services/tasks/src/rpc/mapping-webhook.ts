import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import {
  EventSchema,
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookDeliveryState,
  WebhookEndpointSchema,
  WebhookPayload,
} from '@reelgate/proto/tasks/v1/webhook';
import type {
  Event as WireEvent,
  WebhookAttempt,
  WebhookDelivery,
  WebhookEndpoint,
} from '@reelgate/proto/tasks/v1/webhook';
import type { Attempt, Delivery, DeliveryState, Payload, ClientEvent } from '../domain/webhook.ts';
import type { EndpointSettings, EndpointView } from '../operations/webhooks/manage-endpoints.ts';
import type { Subject } from '../operations/webhooks/event-subjects.ts';
import { toWireJob } from './mapping-job.ts';
import { fromOptionalEnum } from './mapping-order.ts';
import { toWireTask } from './mapping-task.ts';

export const PAYLOADS = deriveValues(WebhookPayload);
const PAYLOAD_WORDS = deriveWords(WebhookPayload);
const DELIVERY_STATES = deriveValues(WebhookDeliveryState);
const DELIVERY_STATE_WORDS = deriveWords(WebhookDeliveryState);

/** Of `default`. */
const NO_SETTINGS: EndpointSettings = { name: '', url: '', eventTypes: [], payload: 'thin' };

/** Undefined if the request does not name a payload. */
export function fromWirePayload(payload: WebhookPayload): Payload | undefined {
  return fromOptionalEnum(PAYLOAD_WORDS, payload);
}

/** Undefined for deliveries of every state. */
export function fromWireDeliveryState(state: WebhookDeliveryState): DeliveryState | undefined {
  return fromOptionalEnum(DELIVERY_STATE_WORDS, state);
}

export function toWireEndpoint({
  id,
  accountId,
  settings = NO_SETTINGS,
  hint,
  createdAt,
  updatedAt,
  health,
}: EndpointView): WebhookEndpoint {
  return toMessage(WebhookEndpointSchema, {
    id,
    accountId,
    name: settings.name,
    url: settings.url,
    eventTypes: [...settings.eventTypes],
    payload: PAYLOADS[settings.payload],
    secretHint: hint,
    disabledReason: settings.disabled?.reason,
    createdAt: toTimestamp(createdAt),
    updatedAt: toTimestamp(updatedAt),
    disabledAt: toTimestamp(settings.disabled?.at),
    lastSuccessAt: toTimestamp(health.lastSuccessAt),
    lastFailureAt: toTimestamp(health.lastFailureAt),
    failingSince: toTimestamp(health.failingSince),
  });
}

export function toWireDelivery(delivery: Delivery, attempts: readonly Attempt[] = []): WebhookDelivery {
  const { id, endpointId, url, eventId, eventType, subjectId, state, createdAt, nextAttemptAt, endedAt } = delivery;
  return toMessage(WebhookDeliverySchema, {
    id,
    endpointId,
    url,
    eventId,
    eventType,
    subjectId,
    state: DELIVERY_STATES[state],
    attemptCount: delivery.attempts,
    lastStatusCode: delivery.status,
    lastError: delivery.error,
    createdAt: timestampFromMs(createdAt),
    nextAttemptAt: toTimestamp(nextAttemptAt),
    endedAt: toTimestamp(endedAt),
    attempts: attempts.map(toWireAttempt),
  });
}

function toWireAttempt(attempt: Attempt): WebhookAttempt {
  const { number, at, durationMs, status, error, requestHeaders, answerHead } = attempt;
  return toMessage(WebhookAttemptSchema, {
    number,
    at: timestampFromMs(at),
    durationMs: BigInt(durationMs),
    statusCode: status,
    error,
    requestHeaders: { ...requestHeaders },
    answerHead,
  });
}

/** An event, with its subject as it is now. */
export function toWireEvent(event: ClientEvent, subject: Subject | undefined, now: number): WireEvent {
  const { id, accountId, type, subjectId, createdAt, dataJson } = event;
  return toMessage(EventSchema, {
    id,
    accountId,
    type,
    subjectId,
    createdAt: timestampFromMs(createdAt),
    dataJson,
    subject: subject && toWireSubject(subject, now),
  });
}

function toWireSubject(subject: Subject, now: number) {
  return 'task' in subject
    ? { case: 'task' as const, value: toWireTask(subject.task, now) }
    : { case: 'job' as const, value: toWireJob(subject.job) };
}
