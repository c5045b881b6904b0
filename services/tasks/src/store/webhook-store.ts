import type { JudgedAttempt } from '../domain/rules/judge-attempts.ts';
import type {
  Attempt,
  ClientEvent,
  Delivery,
  DeliveryState,
  DisabledReason,
  DispatchedEvent,
  Endpoint,
  EventType,
  Health,
  SealedSecret,
} from '../domain/webhook.ts';

/** The secrets that sign deliveries. */
export interface SecretStore {
  findSecrets(ownerIds: readonly string[]): Promise<ReadonlyMap<string, SealedSecret>>;
  /** Writes a secret unless its owner has one. Returns the one that is stored. */
  addSecret(secret: SealedSecret): Promise<SealedSecret>;
  /** Replaces a secret if it is still the one that is named. Returns whether it was. */
  replaceSecret(secret: SealedSecret, was: string): Promise<boolean>;
  /** Secrets in the order of their owners, after a position. */
  listSecrets(after: string, limit: number): Promise<readonly SealedSecret[]>;
}

/** A change of the settings of an endpoint: its absent members stay as they are. */
export interface EndpointChange {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly eventTypes?: readonly EventType[] | undefined;
  readonly payload?: Endpoint['payload'] | undefined;
  readonly enabled?: boolean | undefined;
  readonly at: number;
}

export interface EndpointSettingsStore {
  /** Writes the endpoint with its secret. Returns false, and does not write, if the account has `max` already. */
  addEndpoint(endpoint: Endpoint, secret: SealedSecret, max: number): Promise<boolean>;
  findEndpoint(accountId: string, endpointId: string): Promise<Endpoint | undefined>;
  /** The newest first, after a position. */
  listEndpoints(
    accountId: string,
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly Endpoint[]>;
  /**
   * Changes settings. A change that enables the endpoint forgets its failures and reschedules its pending deliveries
   * for now; a change that disables it ends them as failed. Returns undefined if there is no such endpoint.
   */
  updateEndpoint(accountId: string, endpointId: string, change: EndpointChange): Promise<Endpoint | undefined>;
  /** Removes an endpoint with its secret and its receiver, and ends its pending deliveries as failed. */
  removeEndpoint(accountId: string, endpointId: string, at: number): Promise<boolean>;
  /** The health of endpoints, by id. An endpoint without a delivery has no health. */
  readHealth(endpointIds: readonly string[]): Promise<ReadonlyMap<string, Health>>;
}

/** Endpoints and secrets, as their owners manage them. */
export interface EndpointStore extends EndpointSettingsStore, SecretStore {}

export interface EventWriter {
  /** Writes an event outside the transactions of tasks and jobs. A known id has no effect. */
  addEvent(event: ClientEvent): Promise<void>;
}

export interface EventDispatcher {
  /**
   * Assigns the oldest new events their places, and writes a delivery for each subscribed receiver. One process does
   * this at a time.
   */
  dispatch(options: { readonly now: number; readonly limit: number }): Promise<DispatchCounts>;
}

export interface DispatchCounts {
  /** The number of events that got their places. */
  readonly events: number;
  /** The number of their deliveries. */
  readonly deliveries: number;
}

/** The places of events in the streams of their accounts. */
export interface EventPlaceReader {
  /** The place of an event of an account. Undefined if it is not kept, or not dispatched yet. */
  findPlace(accountId: string, eventId: string): Promise<number | undefined>;
  /** The last event of an account. */
  lastEvent(accountId: string): Promise<DispatchedEvent | undefined>;
  /** The last place that was given. */
  lastPlace(): Promise<number>;
  /**
   * The last place of each account that has events after a place. It looks at the next `limit` events, so the greatest
   * of the places is where the next look begins.
   */
  lastPlaces(seq: number, limit: number): Promise<readonly { readonly accountId: string; readonly seq: number }[]>;
}

export interface EventReader {
  eventsAfter(
    filter: {
      readonly accountId: string;
      readonly types?: readonly EventType[] | undefined;
      readonly subjectId?: string | undefined;
    },
    seq: number,
    limit: number,
  ): Promise<readonly DispatchedEvent[]>;
  findEvents(ids: readonly string[]): Promise<ReadonlyMap<string, ClientEvent>>;
}

/** Events on their way into streams and deliveries. */
export interface EventStore extends EventWriter, EventDispatcher, EventPlaceReader, EventReader {}

/** A receiver and the lease under which a worker has it. The name of a lease is never used twice. */
export interface ReceiverLease {
  readonly receiverId: string;
  readonly lease: string;
}

/** A receiver under a lease. */
export interface LeasedReceiver {
  readonly id: string;
  readonly accountId: string;
  readonly endpointId: string;
  readonly lease: string;
  readonly health: Health;
  /** The count of its circuit. */
  readonly circuit: number;
  /** Undefined if the URLs come with the deliveries. */
  readonly endpoint?: Endpoint | undefined;
  readonly deliveries: readonly Delivery[];
}

export interface ReceiverRecord {
  readonly receiverId: string;
  readonly lease: string;
  readonly attempts: readonly JudgedAttempt[];
  readonly health: Health;
  readonly circuit: number;
  /** Makes pending deliveries due at once, each a few times at most. */
  readonly hasRecovered: boolean;
  /** Disables the endpoint, in the same transaction. */
  readonly disable?: DisabledReason | undefined;
  /** Returns the lease. */
  readonly returned: boolean;
  readonly at: number;
}

export interface ReceiverLeaseStore {
  /** No receiver is due before this moment. Undefined if no receiver has a due time. */
  findFirstDue(): Promise<number | undefined>;
  /**
   * Leases receivers with due deliveries. Accounts share: no account gets more than `perAccount` leases at one time,
   * except by calls at the same moment. A receiver with consecutive failed attempts gets one delivery, any other at
   * most `deliveries`.
   */
  leaseReceivers(options: {
    /** Names the process of the worker. */
    readonly worker: string;
    readonly now: number;
    readonly until: number;
    readonly lease: string;
    readonly limit: number;
    readonly perAccount: number;
    /** The most of these that may be origins of URLs that requests carry. */
    readonly originsPerAccount: number;
    readonly deliveries: number;
    /** From this many failures in a row a receiver gets one delivery. */
    readonly failuresMax: number;
  }): Promise<readonly LeasedReceiver[]>;
  /** Renews leases, and returns their receivers. One that has ended is renewed unless another one was taken. */
  renewLeases(leases: readonly ReceiverLease[], until: number): Promise<ReadonlySet<string>>;
  /** Ends every lease. Only for a start that no worker has survived. Returns how many it ended. */
  endLeases(now: number): Promise<number>;
  /** The leased receivers of these leases, without their deliveries, unless another lease was taken. */
  findHeldReceivers(leases: readonly ReceiverLease[]): Promise<ReadonlyMap<string, Omit<LeasedReceiver, 'deliveries'>>>;
}

export interface AttemptRecorder {
  /**
   * Writes the attempts under leases, with one record for a receiver. A lease holds until it is returned or another one
   * is taken, even after its end. The state of a delivery that has ended stays, and a repeated record has no effect.
   * Returns the receivers with a lost lease.
   */
  recordAttempts(records: readonly ReceiverRecord[]): Promise<readonly string[]>;
}

export interface DeliveryReader {
  findDeliveries(ids: readonly string[]): Promise<ReadonlyMap<string, Delivery>>;
  listDeliveries(
    filter: { readonly accountId: string; readonly endpointId: string; readonly state?: DeliveryState | undefined },
    page: { readonly limit: number; readonly after?: string | undefined },
  ): Promise<readonly Delivery[]>;
  findDelivery(accountId: string, deliveryId: string): Promise<Delivery | undefined>;
  /** The newest deliveries of the newest events about a task or a job. */
  listDeliveriesAbout(accountId: string, subjectId: string, limit: number): Promise<readonly Delivery[]>;
  /** The attempts of these deliveries, by delivery, up to a bound that the greatest ids use first. */
  listAttemptsByDelivery(deliveryIds: readonly string[]): Promise<ReadonlyMap<string, readonly Attempt[]>>;
  /** The last attempts, up to a bound. */
  listAttempts(deliveryId: string): Promise<readonly Attempt[]>;
}

export interface ResendStore {
  /**
   * Makes a delivery due at once, under a new schedule. An open circuit does not hold it. Returns whether it exists.
   */
  resend(accountId: string, deliveryId: string, at: number): Promise<boolean>;
  /** The same for failed deliveries since a time, and pending ones that are due later. Returns how many. */
  resendFailed(
    which: { readonly accountId: string; readonly endpointId: string; readonly since: number; readonly limit: number },
    at: number,
  ): Promise<number>;
}

/** Deliveries and their leases. */
export interface DeliveryStore extends ReceiverLeaseStore, AttemptRecorder, DeliveryReader, ResendStore {}

/** Removes old records. Several processes may remove at once. */
export interface WebhookRetentionStore {
  /** Removes ended deliveries with their attempts, events and idle receivers that are older than a time. */
  removeOldWebhooks(which: { readonly before: number; readonly limit: number }): Promise<number>;
}

/** The numbers that operators watch. */
export interface WebhookBacklogStore {
  /** Counted up to a bound, and when the first receiver was or is due. */
  countPendingDeliveries(): Promise<{ readonly count: number; readonly oldestDueAt: number | undefined }>;
  /** Those that the service disabled, not their owners. */
  countDisabledEndpoints(): Promise<number>;
  countUndispatchedEvents(): Promise<{ readonly count: number; readonly oldestAt: number | undefined }>;
}

export type WebhookStore = EndpointStore & EventStore & DeliveryStore & WebhookRetentionStore & WebhookBacklogStore;
