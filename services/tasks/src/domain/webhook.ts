import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { Fault } from './fault.ts';

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

const CHARACTERS_MAX = 2048;
const HTTPS_PORT = '443';
const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': HTTPS_PORT };
/** The URL parser repairs other texts: a missing slash, a backslash, a tab. A URL that needs repair is refused. */
const WELL_FORMED = /^https?:\/\/[^/\\]/i;
const UNWELCOME = /[\u0000-\u0020\u007f-\u00a0\\]|\s/u;
/** The parser drops an empty user name, as in `https://@host/`. */
const USER = /^[^/]*\/\/[^/?#]*@/;

const EXPECTED = 'must be an https URL on port 443, such as https://example.com/hooks';

/** Names that are used only inside a network. */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|lan|arpa|onion|i2p|invalid)$|^[^.]*$|^\.|\.\./;
/** The private and special addresses that a person may write by mistake. */
const SPECIAL_IPV4 = [
  /^(0|10|127|22[4-9]|2[3-5]\d)\./,
  /^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
  /^169\.254\./,
  /^172\.(1[6-9]|2\d|3[01])\./,
  /^192\.(168\.|0\.[02]\.)/,
  /^198\.(1[89]\.|51\.100\.)/,
  /^203\.0\.113\./,
];
const IPV4 = /^\d+(\.\d+){3}$/;
/** 2000::/3 without the parts that embed or document other addresses. */
const GLOBAL_IPV6 = /^\[(?!2002:|3fff:|2001:(:|db8:|1?[\da-f]{1,2}:))[23][\da-f]{3}:/;

/**
 * Checks the URL of a receiver without resolving its host: the service that connects judges the address. `allow` names
 * receivers as `host:port` that need neither https nor a public host.
 */
export function webhookUrlFault(text: string, field: string, allow: ReadonlySet<string>): Fault | undefined {
  const message = textFault(text) ?? receiverFault(URL.parse(text), allow);
  return message === undefined ? undefined : { reason: 'invalid_webhook_url', field, message };
}

function textFault(text: string): string | undefined {
  if (text.length > CHARACTERS_MAX) return `must have at most ${CHARACTERS_MAX} characters`;
  if (USER.test(text)) return 'must have no user name and no password';
  if (text.includes('#')) return 'must have no fragment';
  return WELL_FORMED.test(text) && !UNWELCOME.test(text) ? undefined : EXPECTED;
}

function receiverFault(url: URL | null, allow: ReadonlySet<string>): string | undefined {
  if (url === null || url.href.length > CHARACTERS_MAX) return EXPECTED;
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : url.port;
  if (allow.has(`${url.hostname}:${String(port)}`)) return undefined;
  if (url.protocol !== 'https:' || port !== HTTPS_PORT) return EXPECTED;
  return isPublicHost(url.hostname) ? undefined : 'must have a public host, such as https://example.com/hooks';
}

function isPublicHost(host: string): boolean {
  if (host.startsWith('[')) return GLOBAL_IPV6.test(host);
  if (IPV4.test(host)) return !SPECIAL_IPV4.some((range) => range.test(host));
  return !PRIVATE_NAME.test(host.replace(/\.$/, ''));
}
