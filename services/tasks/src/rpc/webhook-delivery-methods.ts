import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { WebhookAttempt } from '@reelgate/proto/tasks/v1/webhook';
import { DueWebhookDeliverySchema, LeasedWebhookReceiverSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type {
  DueWebhookDelivery,
  LeasedWebhookReceiver,
  MadeWebhookAttempt,
  WatchEventsRequest,
  WebhookReceiverRecord,
  WebhookService,
} from '@reelgate/proto/tasks/v1/webhook_service';
import type { EveryMember } from '../domain/every-member.ts';
import type { MadeAttempt } from '../domain/rules/judge-attempts.ts';
import type { Attempt } from '../domain/webhook.ts';
import { leaseReceivers, renewReceivers } from '../operations/webhooks/lease-receivers.ts';
import type { DueDelivery, DueReceiver, LeaseDeps } from '../operations/webhooks/lease-receivers.ts';
import { recordAttempts } from '../operations/webhooks/record-attempts.ts';
import type { RecordDeps, WorkerRecord } from '../operations/webhooks/record-attempts.ts';
import { watchEvents } from '../operations/webhooks/watch-events.ts';
import type { EventWatch, EventWatchDeps } from '../operations/webhooks/watch-events.ts';
import { parseEventTypes } from '../operations/webhooks/webhook-refusals.ts';
import { PAYLOADS, toWireEvent } from './mapping-webhook.ts';
import { emptyToUndefined } from './request-fields.ts';

export type DeliveryMethodDeps = LeaseDeps & RecordDeps & EventWatchDeps & { readonly clock: Clock };

const ANSWER_HEAD_MAX = 2048;
const ERROR_MAX = 200;

/** The streams of events, and the methods of the workers that deliver them. */
export function deliveryMethods(deps: DeliveryMethodDeps) {
  const now = (): number => deps.clock.now();
  return {
    async *watchEvents(request, { signal }) {
      for await (const { event, subject, cursor } of watchEvents(deps, toWatch(request), signal))
        yield event === undefined ? { cursor } : { event: toWireEvent(event, subject, now()), cursor };
    },
    leaseWebhookReceivers: async ({ worker, limit }) => {
      const { receivers, leaseMs, restMs } = await leaseReceivers(deps, worker, limit);
      return {
        receivers: receivers.map((receiver) => toWireReceiver(receiver, now())),
        leaseMs: BigInt(leaseMs),
        restMs: BigInt(restMs),
      };
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

function toWireReceiver(receiver: DueReceiver, now: number): LeasedWebhookReceiver {
  const { receiverId, lease, accountId, payload, failures, circuit, secrets, deliveries } = receiver;
  return toMessage(LeasedWebhookReceiverSchema, {
    receiverId,
    lease,
    accountId,
    payload: PAYLOADS[payload],
    secrets: secrets.map((secret) => secret.reveal()),
    deliveries: deliveries.map((delivery) => toWireDue(delivery, now)),
    failures,
    circuit: BigInt(circuit),
  });
}

function toWireDue(delivery: DueDelivery, now: number): DueWebhookDelivery {
  const { deliveryId, attempt, url, event, subject, trace, linkedTrace } = delivery;
  return toMessage(DueWebhookDeliverySchema, {
    deliveryId,
    attempt,
    url,
    event: toWireEvent(event, subject, now),
    trace,
    linkedTrace,
    requestId: event.origin?.requestId,
  });
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
