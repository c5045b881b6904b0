import { toBinary } from '@bufbuild/protobuf';
import type { NewId } from '@reelgate/platform/ids';
import { computeRestMs } from '@reelgate/platform/lifecycle/worker';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { Secret } from '@reelgate/platform/secret';
import { EventSchema } from '@reelgate/proto/tasks/v1/webhook';
import { DueWebhookDeliverySchema, LeasedWebhookReceiverSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type { DueWebhookDelivery, LeasedWebhookReceiver } from '@reelgate/proto/tasks/v1/webhook_service';
import { FAILURES_MAX } from '../../domain/rules/judge-attempts.ts';
import { toSecretOwnerId } from '../../domain/webhook.ts';
import type { ClientEvent, Delivery, Payload } from '../../domain/webhook.ts';
import type { EventReader, LeasedReceiver, ReceiverLease, ReceiverLeaseStore } from '../../store/webhook-store.ts';
import { traceToPassOn } from '../tracing/work-span.ts';
import { PAYLOADS, findSubjects, toWireEvent } from './event-subjects.ts';
import type { SubjectDeps } from './event-subjects.ts';
import type { WebhookSecrets } from './secrets.ts';

const RECEIVERS_MAX = 64;
/** Leases of one account at once, so that its dead receivers leave workers to the others. */
const RECEIVERS_AN_ACCOUNT_MAX = 32;
/** Of them, the receivers of origins that its requests name, so that hanging ones leave workers to its endpoints. */
const ORIGINS_AN_ACCOUNT_MAX = 16;
const DELIVERIES_MAX = 32;
/** The time for which a dead worker delays its receivers. A living worker renews five times in this time. */
const LEASE_MS = 10_000;
/** Maximum size of one answer in bytes; a message has at most 8 MiB. */
const ANSWER_BYTES_MAX = 5 * 1024 * 1024;
/** A delivery without its URL and its subject. */
const DELIVERY_BYTES = 512;

export interface LeaseDeps extends SubjectDeps {
  readonly webhooks: ReceiverLeaseStore & EventReader;
  readonly secrets: WebhookSecrets;
  readonly newId: NewId;
}

export interface DueReceivers {
  readonly receivers: LeasedWebhookReceiver[];
  readonly leaseMs: number;
  /** The time in milliseconds in which no receiver becomes due without an announcement; 0: it is not known. */
  readonly restMs: number;
}

/**
 * Leases receivers to a worker, with all that it needs to send their deliveries. The worker renews the leases while it
 * works. When a lease ends, its unrecorded deliveries are sent again.
 */
export async function leaseReceivers(deps: LeaseDeps, worker: string, limit: number): Promise<DueReceivers> {
  const { webhooks, clock, newId } = deps;
  const now = clock.now();
  const restMs = computeRestMs((await webhooks.findFirstDue()) ?? Infinity, now);
  if (restMs > 0) return { receivers: [], leaseMs: LEASE_MS, restMs };
  const leased = await webhooks.leaseReceivers({
    worker,
    now,
    until: now + LEASE_MS,
    lease: newId('lease'),
    limit: Math.min(Math.max(limit, 1), RECEIVERS_MAX),
    perAccount: RECEIVERS_AN_ACCOUNT_MAX,
    originsPerAccount: ORIGINS_AN_ACCOUNT_MAX,
    deliveries: DELIVERIES_MAX,
    failuresMax: FAILURES_MAX,
  });
  return { receivers: leased.length === 0 ? [] : await loadDueReceivers(deps, leased), leaseMs: LEASE_MS, restMs };
}

/** Renews the leases of a worker. Returns the receivers with a lost lease. */
export async function renewReceivers(
  { webhooks, clock }: LeaseDeps,
  leases: readonly ReceiverLease[],
): Promise<{ readonly lost: readonly string[]; readonly leaseMs: number }> {
  const kept = await webhooks.renewLeases(leases, clock.now() + LEASE_MS);
  return { lost: leases.map(({ receiverId }) => receiverId).filter((id) => !kept.has(id)), leaseMs: LEASE_MS };
}

async function loadDueReceivers(deps: LeaseDeps, leased: readonly LeasedReceiver[]): Promise<LeasedWebhookReceiver[]> {
  const secrets = await deps.secrets.openManySecrets(leased);
  const listSigningSecrets = ({ accountId, endpointId }: LeasedReceiver): readonly Secret[] =>
    secrets.get(toSecretOwnerId(accountId, endpointId)) ?? [];
  // Without a secret no delivery can be signed. Such a receiver waits for the end of its lease, then is tried again.
  const readable = leased.filter((receiver) => listSigningSecrets(receiver).length > 0);
  const kept = await deps.webhooks.findEvents(listEventIds(readable));
  const findEvent = (delivery: Delivery): ClientEvent => kept.get(delivery.eventId) ?? rebuildEvent(delivery);
  const full = readable.filter((receiver) => choosePayload(receiver) === 'full');
  const subjects = await findSubjects(
    deps,
    full.flatMap(({ deliveries }) => deliveries.map(findEvent)),
  );
  const toDue = (receiver: LeasedReceiver, delivery: Delivery): DueWebhookDelivery => {
    const event = findEvent(delivery);
    const subject = choosePayload(receiver) === 'full' ? subjects.get(delivery.subjectId) : undefined;
    return toMessage(DueWebhookDeliverySchema, {
      deliveryId: delivery.id,
      attempt: delivery.attempts + 1,
      url: delivery.url,
      event: toWireEvent(event, subject),
      ...findTraces(deps, event),
      requestId: event.origin?.requestId,
    });
  };
  const budget = { left: ANSWER_BYTES_MAX };
  return readable.map((receiver) => {
    const due = receiver.deliveries.map((delivery) => toDue(receiver, delivery));
    return toMessage(LeasedWebhookReceiverSchema, {
      receiverId: receiver.id,
      lease: receiver.lease,
      accountId: receiver.accountId,
      payload: PAYLOADS[choosePayload(receiver)],
      failures: receiver.health.failures,
      circuit: BigInt(receiver.circuit),
      secrets: listSigningSecrets(receiver).map((secret) => secret.reveal()),
      deliveries: takeWithinBudget(budget, due),
    });
  });
}

/** The carrier that a delivery goes on from, or, for old work, the one to which a trace of its own is linked. */
function findTraces(
  deps: LeaseDeps,
  { origin }: ClientEvent,
): { readonly trace: string; readonly linkedTrace: string } {
  if (origin?.trace === undefined) return { trace: '', linkedTrace: '' };
  const trace = traceToPassOn(deps, { createdAt: origin.createdAt, trace: origin.trace });
  return trace === undefined ? { trace: '', linkedTrace: origin.trace } : { trace, linkedTrace: '' };
}

function listEventIds(receivers: readonly LeasedReceiver[]): readonly string[] {
  return [...new Set(receivers.flatMap(({ deliveries }) => deliveries.map(({ eventId }) => eventId)))];
}

/** The event of a delivery that is sent again after its event was removed. */
function rebuildEvent({ eventId, accountId, eventType, subjectId, createdAt }: Delivery): ClientEvent {
  return { id: eventId, accountId, type: eventType, subjectId, createdAt };
}

function choosePayload({ endpoint }: LeasedReceiver): Payload {
  return endpoint?.payload ?? 'thin';
}

/**
 * Leaves out the deliveries that exceed the size of the answer. They stay due, and follow under the next lease of their
 * receiver.
 */
function takeWithinBudget(budget: { left: number }, deliveries: readonly DueWebhookDelivery[]): DueWebhookDelivery[] {
  return deliveries.filter((delivery, index) => {
    const bytes = estimateBytes(delivery);
    if (index > 0 && bytes > budget.left) return false;
    budget.left -= bytes;
    return true;
  });
}

/** About as many bytes as in the message. */
function estimateBytes({ url, event }: DueWebhookDelivery): number {
  const withSubject = event?.subject.case === undefined ? 0 : toBinary(EventSchema, event).length;
  return DELIVERY_BYTES + Buffer.byteLength(url) + withSubject;
}
