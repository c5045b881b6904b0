import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type {
  WebhookAttemptSchema,
  WebhookDeliverySchema,
  WebhookEndpointSchema,
  EventSchema,
} from '@reelgate/proto/tasks/v1/webhook';
import type { Attempt, Delivery, DeliveryState, Payload, ClientEvent } from '../domain/webhook.ts';
import type { EndpointSettings, EndpointView } from '../operations/webhooks/manage-endpoints.ts';
import type { Subject } from '../operations/webhooks/event-subjects.ts';
import type { ShownDelivery } from '../operations/webhooks/manage-deliveries.ts';
import { toWireJob } from './mapping-job.ts';
import { fromWireEnum } from './mapping-order.ts';
import { toWireTask } from './mapping-task.ts';

export const PAYLOADS: Readonly<Record<Payload, WebhookPayload>> = {
  thin: WebhookPayload.THIN,
  full: WebhookPayload.FULL,
};

const DELIVERY_STATES: Readonly<Record<DeliveryState, WebhookDeliveryState>> = {
  pending: WebhookDeliveryState.PENDING,
  delivered: WebhookDeliveryState.DELIVERED,
  failed: WebhookDeliveryState.FAILED,
};

/** Of `default`. */
const NO_SETTINGS: EndpointSettings = { name: '', url: '', eventTypes: [], payload: 'thin' };

/** Undefined: the request does not say. */
export function fromWirePayload(payload: WebhookPayload): Payload | undefined {
  return payload === WebhookPayload.UNSPECIFIED ? undefined : fromWireEnum(PAYLOADS, payload);
}

/** Undefined: deliveries of every state. */
export function fromWireDeliveryState(state: WebhookDeliveryState): DeliveryState | undefined {
  return state === WebhookDeliveryState.UNSPECIFIED ? undefined : fromWireEnum(DELIVERY_STATES, state);
}

export function toWireEndpoint({
  id,
  accountId,
  settings = NO_SETTINGS,
  hint,
  createdAt,
  updatedAt,
  health,
}: EndpointView): MessageInitShape<typeof WebhookEndpointSchema> {
  return {
    id,
    accountId,
    name: settings.name,
    url: settings.url,
    eventTypes: [...settings.eventTypes],
    payload: PAYLOADS[settings.payload],
    secretHint: hint,
    disabledReason: settings.disabled?.reason ?? '',
    ...time('createdAt', createdAt),
    ...time('updatedAt', updatedAt),
    ...time('disabledAt', settings.disabled?.at),
    ...time('lastSuccessAt', health.lastSuccessAt),
    ...time('lastFailureAt', health.lastFailureAt),
    ...time('failingSince', health.failingSince),
  };
}

export function toWireDelivery(
  delivery: Delivery,
  attempts: ShownDelivery['attempts'] = [],
): MessageInitShape<typeof WebhookDeliverySchema> {
  const { id, endpointId, url, eventId, eventType, subjectId, state, createdAt, nextAttemptAt, endedAt } = delivery;
  return {
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
    ...time('nextAttemptAt', nextAttemptAt),
    ...time('endedAt', endedAt),
    attempts: attempts.map(toWireAttempt),
  };
}

function toWireAttempt({
  number,
  at,
  durationMs,
  status,
  error,
  requestHeaders,
  answerHead,
}: Attempt): MessageInitShape<typeof WebhookAttemptSchema> {
  return {
    number,
    at: timestampFromMs(at),
    durationMs: BigInt(durationMs),
    statusCode: status,
    error,
    requestHeaders: { ...requestHeaders },
    answerHead,
  };
}

/** A field with a time, or no field. */
function time<K extends string>(field: K, ms: number | undefined): { [_ in K]?: Timestamp } {
  return ms === undefined ? {} : ({ [field]: timestampFromMs(ms) } as { [_ in K]: Timestamp });
}

/** An event, with its subject as it is now. */
export function toWireEvent(
  { id, accountId, type, subjectId, createdAt, dataJson = '' }: ClientEvent,
  subject: Subject | undefined,
  now: number,
): MessageInitShape<typeof EventSchema> {
  return {
    id,
    accountId,
    type,
    subjectId,
    createdAt: timestampFromMs(createdAt),
    dataJson,
    ...(subject === undefined ? {} : { subject: toWireSubject(subject, now) }),
  };
}

function toWireSubject(subject: Subject, now: number) {
  return 'task' in subject
    ? { case: 'task' as const, value: toWireTask(subject.task, now) }
    : { case: 'job' as const, value: toWireJob(subject.job) };
}
