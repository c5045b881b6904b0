import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';

/** The types of events that an endpoint can subscribe to. */
export const EVENT_TYPES = [
  'video.completed',
  'video.failed',
  'job.completed',
  'job.failed',
  'batch.completed',
  'batch.failed',
  'batch.expired',
  'batch.cancelled',
  'balance.low',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export function isEventType(text: string): text is EventType {
  return EVENT_TYPES.some((type) => type === text);
}

/** The endpoint id of the URLs that requests carry. */
export const DEFAULT_ENDPOINT = 'default';

export type Payload = EnumWord<typeof WebhookPayload>;
export type DisabledReason = 'gone' | 'failing' | 'by_owner';
export type DeliveryState = EnumWord<typeof WebhookDeliveryState>;

/** The task or job that an event goes back to, for the spans and the log lines of its deliveries. */
export interface EventOrigin {
  /** The request that created it. */
  readonly requestId?: string | undefined;
  /** The W3C `traceparent` that its work continues. Undefined if its create was not sampled. */
  readonly trace?: string | undefined;
  readonly createdAt: number;
}

/** An event for clients. */
export interface ClientEvent {
  readonly id: string;
  readonly accountId: string;
  readonly type: EventType;
  /** A task, a job, a batch or an account. */
  readonly subjectId: string;
  readonly createdAt: number;
  /** The URL that the request carried. */
  readonly url?: string | undefined;
  /** Further members of the event's data, as a JSON object. */
  readonly dataJson?: string | undefined;
  /** Undefined if it is not about work. */
  readonly origin?: EventOrigin | undefined;
}

/** An event with its place in the order of all streams. */
export interface DispatchedEvent extends ClientEvent {
  readonly seq: number;
}

/** The settings of an endpoint. */
export interface Endpoint {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly EventType[];
  readonly payload: Payload;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabled?: { readonly at: number; readonly reason: DisabledReason } | undefined;
}

/** The health of a receiver, according to its answers. */
export interface Health {
  /** Attempts that failed in a row. */
  readonly failures: number;
  /** Since when every attempt fails. */
  readonly failingSince?: number | undefined;
  /** Until then no attempt begins. */
  readonly openUntil?: number | undefined;
  readonly lastSuccessAt?: number | undefined;
  readonly lastFailureAt?: number | undefined;
}

export const HEALTHY: Health = { failures: 0 };

/** A signing secret as it is stored. */
export interface SealedSecret {
  /** An endpoint, or `default:ACCOUNT`. */
  readonly ownerId: string;
  readonly accountId: string;
  readonly sealed: string;
  /** The first and the last characters of the secret. */
  readonly hint: string;
  /** The secret before the last rotation, while it also signs. */
  readonly old?: { readonly sealed: string; readonly until: number } | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** One request to a receiver. */
export interface Attempt {
  readonly number: number;
  readonly at: number;
  readonly durationMs: number;
  /** 0: there was no answer. */
  readonly status: number;
  /** Empty if it succeeded. */
  readonly error: string;
  /** Without the signature. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly answerHead: string;
}

export interface Delivery {
  readonly id: string;
  readonly eventId: string;
  readonly eventType: EventType;
  readonly subjectId: string;
  readonly receiverId: string;
  readonly endpointId: string;
  readonly accountId: string;
  readonly url: string;
  readonly state: DeliveryState;
  /** The number of attempts. */
  readonly attempts: number;
  /** The number of attempts that belong to an earlier sending. */
  readonly attemptsBefore: number;
  readonly dueAt?: number | undefined;
  /** No attempt begins before this time. Undefined if no attempt follows, or if the endpoint is disabled. */
  readonly nextAttemptAt?: number | undefined;
  /** Of the last attempt. 0 if there was no attempt, or no answer to it. */
  readonly status: number;
  readonly error: string;
  readonly createdAt: number;
  readonly endedAt?: number | undefined;
}

/** The owner of the secret that signs the deliveries of an endpoint. */
export function toSecretOwnerId(accountId: string, endpointId: string): string {
  return endpointId === DEFAULT_ENDPOINT ? `${DEFAULT_ENDPOINT}:${accountId}` : endpointId;
}
