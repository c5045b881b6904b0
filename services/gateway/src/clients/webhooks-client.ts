import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Client } from '@reelgate/platform/rpc/service';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { Secret } from '@reelgate/platform/secret';
import { WebhookDeliveryState as WireState, WebhookPayload as WirePayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookDelivery, WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import type { WatchEventsRequestSchema, WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import { requireValue } from './wire-values.ts';

/** The content of a delivery: the id of the subject, or also the subject as a status read returns it. */
export type WebhookPayload = EnumWord<typeof WirePayload>;
export type DeliveryState = EnumWord<typeof WireState>;

export const WIRE_STATES = deriveValues(WireState);
const WIRE_PAYLOADS = deriveValues(WirePayload);

/** The types of events that a client can subscribe to. */
export const EVENT_TYPES: readonly string[] = [
  'video.completed',
  'video.failed',
  'job.completed',
  'job.failed',
  'batch.completed',
  'batch.failed',
  'batch.expired',
  'batch.cancelled',
  'balance.low',
];

/** The settings of an endpoint. */
export interface EndpointSettings {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payload: WebhookPayload;
}

/** A change of an endpoint. An undefined member stays as it is. */
export type EndpointChange = { readonly [M in keyof EndpointSettings]?: EndpointSettings[M] | undefined } & {
  readonly isDisabled?: boolean | undefined;
};

export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  readonly secret: Secret;
}

/** A test waits for the receiver. */
const TEST_DEADLINE_MS = 30_000;

/** The account that owns the endpoints, and the request that causes a call. */
export type WebhookCaller = { readonly accountId: string } & Caller;

export interface PageRequest {
  readonly limit: number;
  /** The last entry of the page before. */
  readonly after: string | undefined;
}

export interface WebhookEndpoints {
  create(caller: WebhookCaller, settings: EndpointSettings): Promise<EndpointWithSecret>;
  get(caller: WebhookCaller, endpointId: string): Promise<WebhookEndpoint>;
  list(
    caller: WebhookCaller,
    page: PageRequest,
  ): Promise<{ readonly endpoints: readonly WebhookEndpoint[]; readonly hasMore: boolean }>;
  update(caller: WebhookCaller, endpointId: string, change: EndpointChange): Promise<WebhookEndpoint>;
  remove(caller: WebhookCaller, endpointId: string): Promise<void>;
  rotateSecret(
    caller: WebhookCaller,
    endpointId: string,
    how: { readonly keepOldSecret: boolean },
  ): Promise<EndpointWithSecret>;
  /** Returns the status of the receiver's answer. */
  test(caller: WebhookCaller, endpointId: string, eventType: string): Promise<number>;
}

export interface WebhookDeliveries {
  listDeliveries(
    caller: WebhookCaller,
    endpointId: string,
    page: PageRequest & { readonly state: DeliveryState | undefined },
  ): Promise<{ readonly deliveries: readonly WebhookDelivery[]; readonly hasMore: boolean }>;
  /** The deliveries about a task with their attempts, the newest first. */
  listAbout(caller: WebhookCaller, subjectId: string): Promise<readonly WebhookDelivery[]>;
  getDelivery(caller: WebhookCaller, deliveryId: string): Promise<WebhookDelivery>;
  resend(caller: WebhookCaller, deliveryId: string): Promise<WebhookDelivery>;
  /** Returns how many deliveries are due again. */
  resendFailed(caller: WebhookCaller, endpointId: string, since: number): Promise<number>;
}

/** The account and the events that a stream has. */
export type EventFilter = MessageInitShape<typeof WatchEventsRequestSchema>;
export type { WatchEventsResponse } from '@reelgate/proto/tasks/v1/webhook_service';

export interface WebhookEvents {
  /** Watches events. Without a cursor it begins now. It ends only with an error. */
  readonly watchEvents: Client<typeof WebhookService>['watchEvents'];
}

/** Endpoints, deliveries and events of the tasks service. */
export interface Webhooks extends WebhookEndpoints, WebhookDeliveries, WebhookEvents {}

export function webhooksClient(rpc: Client<typeof WebhookService>): Webhooks {
  return { ...endpointCalls(rpc), ...deliveryCalls(rpc), watchEvents: (...call) => rpc.watchEvents(...call) };
}

function endpointCalls(rpc: Client<typeof WebhookService>): WebhookEndpoints {
  return {
    create: async ({ accountId, ...call }, { eventTypes, payload, ...settings }) =>
      hideSecret(
        await rpc.createWebhookEndpoint(
          { accountId, ...settings, eventTypes: [...eventTypes], payload: WIRE_PAYLOADS[payload] },
          withDeadline(call),
        ),
      ),
    get: async ({ accountId, ...call }, endpointId) =>
      requireValue((await rpc.getWebhookEndpoint({ accountId, endpointId }, withDeadline(call))).endpoint),
    list: async ({ accountId, ...call }, { limit, after = '' }) =>
      rpc.listWebhookEndpoints({ accountId, limit, after }, withDeadline(call)),
    update: async ({ accountId, ...call }, endpointId, { name, url, eventTypes = [], payload, isDisabled }) =>
      requireValue(
        (
          await rpc.updateWebhookEndpoint(
            {
              accountId,
              endpointId,
              eventTypes: [...eventTypes],
              payload: payload === undefined ? WirePayload.UNSPECIFIED : WIRE_PAYLOADS[payload],
              ...(name === undefined ? {} : { name }),
              ...(url === undefined ? {} : { url }),
              ...(isDisabled === undefined ? {} : { disabled: isDisabled }),
            },
            withDeadline(call),
          )
        ).endpoint,
      ),
    remove: async ({ accountId, ...call }, endpointId) => {
      await rpc.deleteWebhookEndpoint({ accountId, endpointId }, withDeadline(call));
    },
    rotateSecret: async ({ accountId, ...call }, endpointId, { keepOldSecret }) =>
      hideSecret(await rpc.rotateWebhookSecret({ accountId, endpointId, keepOldSecret }, withDeadline(call))),
    test: async ({ accountId, ...call }, endpointId, eventType) =>
      (await rpc.testWebhookEndpoint({ accountId, endpointId, eventType }, withDeadline(call, TEST_DEADLINE_MS)))
        .statusCode,
  };
}

function deliveryCalls(rpc: Client<typeof WebhookService>): WebhookDeliveries {
  return {
    listDeliveries: async ({ accountId, ...call }, endpointId, { limit, after = '', state: word }) => {
      const state = word === undefined ? WireState.UNSPECIFIED : WIRE_STATES[word];
      return rpc.listWebhookDeliveries({ accountId, endpointId, limit, after, state }, withDeadline(call));
    },
    listAbout: async ({ accountId, ...call }, subjectId) =>
      (await rpc.listTaskWebhookDeliveries({ accountId, subjectId }, withDeadline(call))).deliveries,
    getDelivery: async ({ accountId, ...call }, deliveryId) =>
      requireValue((await rpc.getWebhookDelivery({ accountId, deliveryId }, withDeadline(call))).delivery),
    resend: async ({ accountId, ...call }, deliveryId) =>
      requireValue((await rpc.resendWebhookDelivery({ accountId, deliveryId }, withDeadline(call))).delivery),
    resendFailed: async ({ accountId, ...call }, endpointId, since) =>
      (
        await rpc.resendFailedWebhookDeliveries(
          { accountId, endpointId, since: timestampFromMs(since) },
          withDeadline(call),
        )
      ).resent,
  };
}

/** An answer with a secret, which no log prints. */
function hideSecret({
  endpoint,
  secret,
}: {
  readonly endpoint?: WebhookEndpoint | undefined;
  readonly secret: string;
}): EndpointWithSecret {
  return { endpoint: requireValue(endpoint), secret: new Secret(secret) };
}
