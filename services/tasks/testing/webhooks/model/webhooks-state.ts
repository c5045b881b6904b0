import type {
  Attempt,
  ClientEvent,
  Delivery,
  Endpoint,
  EventType,
  Health,
  SealedSecret,
} from '../../../src/domain/webhook.ts';
import type { ReceiverLease, ReceiverRecord } from '../../../src/store/webhook-store.ts';

type Writable<T> = { -readonly [K in keyof T]: T[K] };

export interface ModelEvent extends ClientEvent {
  /** Undefined: it is not dispatched yet. */
  seq: number | undefined;
}

export interface ModelReceiver {
  readonly id: string;
  readonly accountId: string;
  readonly endpointId: string;
  /** When its first delivery is due, its circuit lets one through, or its lease ends. Undefined: nothing is due. */
  dueAt: number | undefined;
  lease: string | undefined;
  leaseUntil: number | undefined;
  worker: string | undefined;
  health: Health;
  circuit: number;
  updatedAt: number;
}

/** A delivery with what the store keeps beside its members. */
export interface ModelDelivery extends Writable<Omit<Delivery, 'url' | 'nextAttemptAt'>> {
  /** Undefined: the URL of its endpoint. */
  readonly url: string | undefined;
  /** How often a success of the receiver made it due before its time. */
  hurries: number;
}

export interface ModelAttempt extends Attempt {
  readonly deliveryId: string;
}

/** What a store of webhooks holds: plain data. */
export interface WebhooksState {
  endpoints: Endpoint[];
  secrets: SealedSecret[];
  events: ModelEvent[];
  lastPlace: number;
  receivers: ModelReceiver[];
  deliveries: ModelDelivery[];
  attempts: ModelAttempt[];
  /** The ids of all endpoints, and of all events that were added by id. */
  readonly begun: string[];
  /** The leases that were ever given. */
  readonly given: ReceiverLease[];
  /** The records that were ever written, also those under a lost lease. */
  readonly records: ReceiverRecord[];
}

export function newWebhooksState(): WebhooksState {
  return {
    ...{ endpoints: [], secrets: [], events: [], lastPlace: 0, receivers: [], deliveries: [], attempts: [] },
    ...{ begun: [], given: [], records: [] },
  };
}

export function findReceiver(state: WebhooksState, receiverId: string): ModelReceiver | undefined {
  return state.receivers.find(({ id }) => id === receiverId);
}

export function findEndpoint(state: WebhooksState, endpointId: string): Endpoint | undefined {
  return state.endpoints.find(({ id }) => id === endpointId);
}

export function findHeld(state: WebhooksState, { receiverId, lease }: ReceiverLease): ModelReceiver | undefined {
  return state.receivers.find((one) => one.id === receiverId && one.lease === lease);
}

export function isHearing({ disabled, eventTypes }: Endpoint, type: EventType): boolean {
  return disabled === undefined && eventTypes.includes(type);
}

/** The pending deliveries of a receiver in the order in which they are due. */
export function listPending(state: WebhooksState, receiverId: string): readonly ModelDelivery[] {
  return state.deliveries
    .filter((one) => one.receiverId === receiverId && one.dueAt !== undefined)
    .toSorted((one, other) => compareTimes(one.dueAt, other.dueAt) || compareTexts(one.id, other.id));
}

export function compareTimes(one: number | undefined, other: number | undefined): number {
  return (one ?? 0) - (other ?? 0);
}

export function compareTexts(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The first rows after a position, in the order of their ids from the greatest on. */
export function takeNewest<T extends { readonly id: string }>(
  rows: readonly T[],
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
): readonly T[] {
  return rows
    .filter(({ id }) => after === undefined || id < after)
    .toSorted((one, other) => compareTexts(other.id, one.id))
    .slice(0, limit);
}
