import { DEFAULT_ENDPOINT } from '../../../src/domain/webhook.ts';
import type { JudgedAttempt } from '../../../src/domain/rules/judge-attempts.ts';
import type {
  AttemptRecorder,
  LeasedReceiver,
  ReceiverLeaseStore,
  ReceiverRecord,
} from '../../../src/store/webhook-store.ts';
import { showDelivery } from './model-deliveries.ts';
import { changeEndpoint, endPending, hurryPending, returnLease } from './model-due-times.ts';
import { compareTexts, compareTimes, findEndpoint, findHeld, listPending } from './webhooks-state.ts';
import type { ModelDelivery, ModelReceiver, WebhooksState } from './webhooks-state.ts';

export type LeaseOptions = Parameters<ReceiverLeaseStore['leaseReceivers']>[0];

/** A due receiver, and its place among those of all accounts. */
export interface NextReceiver {
  readonly one: ModelReceiver;
  readonly rank: number;
}

/**
 * The due receivers in the order in which they are leased: one of each account in turn, counting what the account has
 * already, and for an account the one that has waited longest.
 */
export function listNextReceivers(
  { receivers }: WebhooksState,
  { now, perAccount, originsPerAccount }: LeaseOptions,
): readonly NextReceiver[] {
  const due = receivers
    .filter(({ dueAt, health }) => dueAt !== undefined && Math.max(dueAt, health.openUntil ?? 0) <= now)
    .toSorted((one, other) => compareTimes(one.dueAt, other.dueAt) || compareTexts(one.id, other.id));
  const next: NextReceiver[] = [];
  for (const accountId of new Set(due.map((one) => one.accountId))) {
    const leased = receivers.filter((one) => one.accountId === accountId && (one.leaseUntil ?? 0) > now);
    let origins = leased.filter(isOrigin).length;
    let rank = leased.length;
    for (const one of due.filter((some) => some.accountId === accountId)) {
      if (rank >= perAccount || (isOrigin(one) && origins >= originsPerAccount)) continue;
      if (isOrigin(one)) origins += 1;
      rank += 1;
      next.push({ one, rank });
    }
  }
  return next.toSorted((one, other) => one.rank - other.rank || compareTimes(one.one.dueAt, other.one.dueAt));
}

function isOrigin({ endpointId }: ModelReceiver): boolean {
  return endpointId === DEFAULT_ENDPOINT;
}

/** The leases of receivers. */
export function modelLeases(state: WebhooksState): ReceiverLeaseStore {
  return {
    findFirstDue: async () => {
      const first = Math.min(...state.receivers.map(({ dueAt = Infinity }) => dueAt));
      return first === Infinity ? undefined : first;
    },
    leaseReceivers: async (options) => {
      const { until, lease, worker, limit } = options;
      const taken = listNextReceivers(state, options).slice(0, limit);
      for (const { one } of taken) {
        Object.assign(one, { lease, leaseUntil: until, dueAt: until, worker });
        state.given.push({ receiverId: one.id, lease });
      }
      return taken.flatMap(({ one }) => giveReceiver(state, one, options));
    },
    renewLeases: async (leases, until) => {
      const kept = leases.map((lease) => findHeld(state, lease)).filter((one) => one !== undefined);
      for (const one of kept) Object.assign(one, { leaseUntil: until, dueAt: until });
      return new Set(kept.map(({ id }) => id));
    },
    endLeases: async (now) => {
      const held = state.receivers.filter(({ lease }) => lease !== undefined);
      for (const one of held) Object.assign(one, { lease: undefined, leaseUntil: undefined, dueAt: now });
      return held.length;
    },
    findHeldReceivers: async (leases) => {
      const held = leases.map((lease) => findHeld(state, lease)).filter((one) => one !== undefined);
      return new Map(held.map((one) => [one.id, showReceiver(state, one)]));
    },
  };
}

function showReceiver(state: WebhooksState, receiver: ModelReceiver): Omit<LeasedReceiver, 'deliveries'> {
  const { id, accountId, endpointId, lease = '', health, circuit } = receiver;
  return { id, accountId, endpointId, lease, health, circuit, endpoint: findEndpoint(state, endpointId) };
}

/** A receiver whose endpoint hears nothing any more, or that nothing is due for, is given back. */
function giveReceiver(
  state: WebhooksState,
  receiver: ModelReceiver,
  { now, deliveries, failuresMax }: LeaseOptions,
): readonly LeasedReceiver[] {
  const shown = showReceiver(state, receiver);
  const error = explainUnusable(receiver, shown);
  if (error !== undefined) endPending(state, receiver.id, error, now);
  const due = listPending(state, receiver.id).filter(({ dueAt }) => (dueAt ?? now) <= now);
  if (due.length === 0) {
    returnLease(state, receiver, now);
    return [];
  }
  const most = receiver.health.failures >= failuresMax ? 1 : deliveries;
  return [{ ...shown, deliveries: due.slice(0, most).map((one) => showDelivery(state, one)) }];
}

function explainUnusable(receiver: ModelReceiver, { endpoint }: Pick<LeasedReceiver, 'endpoint'>): string | undefined {
  if (isOrigin(receiver)) return undefined;
  if (endpoint === undefined) return 'endpoint_removed';
  return endpoint.disabled === undefined ? undefined : 'endpoint_disabled';
}

/** What follows from attempts. */
export function modelAttempts(state: WebhooksState): AttemptRecorder {
  return {
    recordAttempts: async (records) => {
      state.records.push(...records);
      const lost = records.filter((record) => !writeRecord(state, record));
      return lost.map(({ receiverId }) => receiverId).toSorted(compareTexts);
    },
  };
}

function writeRecord(state: WebhooksState, record: ReceiverRecord): boolean {
  const receiver = findHeld(state, record);
  if (receiver === undefined) return false;
  const { health, circuit, attempts, disable, hasRecovered, returned, at } = record;
  Object.assign(receiver, { health, circuit, updatedAt: at });
  for (const attempt of attempts) writeAttempt(state, receiver, attempt, at);
  const endpoint = findEndpoint(state, receiver.id);
  if (disable !== undefined) {
    if (endpoint !== undefined && endpoint.disabled === undefined)
      changeEndpoint(state, endpoint, { disabled: { at, reason: disable }, updatedAt: at });
    endPending(state, receiver.id, 'endpoint_disabled', at);
  }
  if (hasRecovered) hurryPending(state, receiver.id, at);
  if (returned) returnLease(state, receiver, at);
  return true;
}

/** A delivery that has ended keeps its end. An attempt that is known changes nothing. */
function writeAttempt(
  state: WebhooksState,
  receiver: ModelReceiver,
  { deliveryId, attempt, state: next, dueAt }: JudgedAttempt,
  at: number,
): void {
  const delivery = state.deliveries.find((one) => one.id === deliveryId && one.receiverId === receiver.id);
  if (delivery === undefined || isKnown(state, delivery, attempt)) return;
  delivery.attempts += 1;
  state.attempts.push({ ...attempt, deliveryId, number: delivery.attempts });
  if (delivery.state !== 'pending') return;
  const { status, error } = attempt;
  const isPending = next === 'pending';
  Object.assign(delivery, {
    ...{ state: next, status, error },
    ...{ dueAt: isPending ? (dueAt ?? at) : undefined, endedAt: isPending ? undefined : at },
  });
}

function isKnown(
  state: WebhooksState,
  delivery: ModelDelivery,
  { at, durationMs }: { readonly at: number; readonly durationMs: number },
): boolean {
  return state.attempts.some((one) => one.deliveryId === delivery.id && one.at === at && one.durationMs === durationMs);
}
