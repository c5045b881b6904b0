import { timestampMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { WebhookDeliveryState } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookAttempt } from '@reelgate/proto/tasks/v1/webhook';
import type {
  WebhookService,
  MadeWebhookAttempt,
  WatchEventsRequest,
  WebhookReceiverRecord,
} from '@reelgate/proto/tasks/v1/webhook_service';
import {
  listDeliveries,
  listDeliveriesAbout,
  resendDelivery,
  resendFailed,
  showDelivery,
} from '../operations/webhooks/manage-deliveries.ts';
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  rotateSecret,
  updateEndpoint,
} from '../operations/webhooks/manage-endpoints.ts';
import { testEndpoint } from '../operations/webhooks/test-endpoint.ts';
import type { WebhookDeps } from '../operations/webhooks/webhook-deps.ts';
import { fromOptionalEnum } from './mapping-order.ts';
import { emptyToUndefined, readLimit } from './request-fields.ts';
import type { EveryMember } from '../domain/every-member.ts';
import type { MadeAttempt } from '../domain/rules/judge-attempts.ts';
import type { Attempt } from '../domain/webhook.ts';
import { leaseReceivers, renewReceivers } from '../operations/webhooks/lease-receivers.ts';
import type { LeaseDeps } from '../operations/webhooks/lease-receivers.ts';
import { recordAttempts } from '../operations/webhooks/record-attempts.ts';
import type { RecordDeps, WorkerRecord } from '../operations/webhooks/record-attempts.ts';
import { watchEvents } from '../operations/webhooks/watch-events.ts';
import type { EventWatch, EventWatchDeps } from '../operations/webhooks/watch-events.ts';
import { parseEventTypes } from '../operations/webhooks/webhook-refusals.ts';

const LIST_LIMIT = 20;
const STATE_WORDS = deriveWords(WebhookDeliveryState);

export function webhookService(deps: WebhookDeps & DeliveryMethodDeps): Implementation<typeof WebhookService> {
  return { ...endpointMethods(deps), ...deliveryMethods(deps) };
}

/** The methods for owners. Each method converts from the wire, runs an operation and converts to the wire. */
export function endpointMethods(deps: WebhookDeps) {
  return {
    createWebhookEndpoint: async (request) => {
      const { endpoint, secret } = await createEndpoint(deps, request);
      return { endpoint, secret: secret.reveal() };
    },
    getWebhookEndpoint: async ({ accountId, endpointId }) => ({
      endpoint: await getEndpoint(deps, accountId, endpointId),
    }),
    listWebhookEndpoints: ({ accountId, ...page }) => listEndpoints(deps, accountId, toPage(page)),
    updateWebhookEndpoint: async (request) => ({ endpoint: await updateEndpoint(deps, request) }),
    deleteWebhookEndpoint: async ({ accountId, endpointId }) => {
      await deleteEndpoint(deps, accountId, endpointId);
      return {};
    },
    rotateWebhookSecret: async ({ accountId, endpointId, keepOldSecret: keepOld }) => {
      const { endpoint, secret } = await rotateSecret(deps, { accountId, endpointId }, { keepOld });
      return { endpoint, secret: secret.reveal() };
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
    listWebhookDeliveries: ({ accountId, endpointId, state, ...page }) =>
      listDeliveries(deps, { accountId, endpointId, state: fromOptionalEnum(STATE_WORDS, state) }, toPage(page)),
    listTaskWebhookDeliveries: async ({ accountId, subjectId }) => ({
      deliveries: await listDeliveriesAbout(deps, accountId, subjectId),
    }),
    getWebhookDelivery: async ({ accountId, deliveryId }) => ({
      delivery: await showDelivery(deps, accountId, deliveryId),
    }),
    resendWebhookDelivery: async ({ accountId, deliveryId }) => ({
      delivery: await resendDelivery(deps, accountId, deliveryId),
    }),
    resendFailedWebhookDeliveries: async ({ accountId, endpointId, since }) => ({
      resent: await resendFailed(deps, { accountId, endpointId }, timestampMs(requireField(since, 'since'))),
    }),
  } satisfies Partial<Implementation<typeof WebhookService>>;
}

function toPage({ limit, after }: { readonly limit: number; readonly after: string }) {
  return { limit: readLimit(limit, LIST_LIMIT), after: emptyToUndefined(after) };
}

type DeliveryMethodDeps = LeaseDeps & RecordDeps & EventWatchDeps;

const ANSWER_HEAD_MAX = 2048;
const ERROR_MAX = 200;

/** The streams of events, and the methods of the workers that deliver them. */
function deliveryMethods(deps: DeliveryMethodDeps) {
  return {
    async *watchEvents(request, { signal }) {
      yield* watchEvents(deps, toWatch(request), signal);
    },
    leaseWebhookReceivers: async ({ worker, limit }) => {
      const { receivers, leaseMs, restMs } = await leaseReceivers(deps, worker, limit);
      return { receivers, leaseMs: BigInt(leaseMs), restMs: BigInt(restMs) };
    },
    renewWebhookLeases: async ({ leases }) => {
      const { lost, leaseMs } = await renewReceivers(deps, leases);
      return { lostReceiverIds: [...lost], leaseMs: BigInt(leaseMs) };
    },
    recordWebhookAttempts: async ({ records }) => ({
      lostReceiverIds: [...(await recordAttempts(deps, records.map(fromWireRecord)))],
    }),
  } satisfies Partial<Implementation<typeof WebhookService>>;
}

function toWatch({ accountId, cursor, types, subjectId, withSubject }: WatchEventsRequest): EveryMember<EventWatch> {
  return {
    accountId,
    cursor,
    types: types.length === 0 ? undefined : parseEventTypes(types, 'types'),
    subjectId: emptyToUndefined(subjectId),
    withSubject,
  };
}

function fromWireRecord({ receiverId, lease, attempts, returned }: WebhookReceiverRecord): WorkerRecord {
  return { receiverId, lease, attempts: attempts.map(fromWireMade), returned };
}

function fromWireMade({ deliveryId, attempt, retryAfterMs, circuit }: MadeWebhookAttempt): EveryMember<MadeAttempt> {
  return {
    deliveryId,
    attempt: fromWireAttempt(requireField(attempt, 'attempt')),
    retryAfterMs: Math.max(0, Number(retryAfterMs)),
    circuit: circuit === undefined ? undefined : Number(circuit),
  };
}

function fromWireAttempt(wire: WebhookAttempt): Attempt {
  const { number, at, durationMs, statusCode, error, requestHeaders, answerHead } = wire;
  return {
    number,
    at: timestampMs(requireField(at, 'at')),
    durationMs: Math.max(0, Number(durationMs)),
    status: statusCode,
    error: error.slice(0, ERROR_MAX),
    requestHeaders,
    answerHead: answerHead.slice(0, ANSWER_HEAD_MAX),
  };
}
