import { timestampMs } from '@bufbuild/protobuf/wkt';
import { requireField } from '@reelgate/platform/rpc/rules';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { WebhookAttempt } from '@reelgate/proto/tasks/v1/webhook';
import type {
  MadeWebhookAttempt,
  WatchEventsRequest,
  WebhookReceiverRecord,
  WebhookService,
} from '@reelgate/proto/tasks/v1/webhook_service';
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
import { emptyToUndefined } from './request-fields.ts';

export type DeliveryMethodDeps = LeaseDeps & RecordDeps & EventWatchDeps;

const ANSWER_HEAD_MAX = 2048;
const ERROR_MAX = 200;

/** The streams of events, and the methods of the workers that deliver them. */
export function deliveryMethods(deps: DeliveryMethodDeps) {
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
