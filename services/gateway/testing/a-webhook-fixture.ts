import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { Secret } from '@reelgate/platform/secret';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { ClientEvent } from '../src/clients/client-event.ts';
import type { Span } from '@reelgate/platform/trace/trace';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import type { WebhookAnswer, WebhookRequest, WebhookSender } from '../src/clients/webhook-sender.ts';
import type {
  DeliveryOrigin,
  DueDelivery,
  LeasedReceiver,
  ReceiverLease,
  ReceiverRecord,
  WebhookWork,
} from '../src/clients/webhook-work-client.ts';
import { startReceiverPool } from '../src/webhooks/receiver-pool.ts';
import type { ReceiverPoolOptions } from '../src/webhooks/receiver-pool.ts';
import type { LeasedPool } from '../src/operations/leased-pool.ts';

export const LEASE_MS = 10_000;
const DELIVERIES_MAX = 32;
export const SECRET = new Secret(`whsec_${Buffer.alloc(32, 1).toString('base64')}`);

/** An event of work that is not recorded, and whose request is not known. */
const NO_ORIGIN: DeliveryOrigin = { requestId: '', trace: undefined, linkedTrace: undefined };
const NEVER = new AbortController().signal;

export type Receiver = (request: WebhookRequest, signal: AbortSignal) => Promise<WebhookAnswer>;

export function anAnswer(over: Partial<WebhookAnswer> = {}): WebhookAnswer {
  return { status: 200, fault: '', durationMs: 5, retryAfterMs: 0, answerHead: 'ok', ...over };
}

export function anEvent(over: Partial<ClientEvent> = {}): ClientEvent {
  const createdAt = Date.UTC(2026, 0, 1);
  const ids = { id: 'evt_1', subjectId: 'task_1' };
  return { ...ids, type: 'video.completed', createdAt, dataJson: '', subject: undefined, ...over };
}

export function aLeasedReceiver(over: Partial<LeasedReceiver> = {}): LeasedReceiver {
  const ids = { id: 'whe_1', lease: 'lease_1', accountId: 'demo' };
  return { ...ids, payload: 'thin', failures: 0, circuit: 0, secrets: [SECRET], deliveries: [], ...over };
}

export const unavailable = (): Problem =>
  new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'not now' });

/** The receivers of the tasks service, in memory: a delivery is due until an attempt of it is recorded. */
export interface FakeWork extends WebhookWork {
  /** The requests that were taken. */
  readonly requests: (readonly ReceiverRecord[])[];
  readonly leases: number;
  /** The leases that were renewed together. */
  readonly renewed: (readonly ReceiverLease[])[];
  readonly recorded: ReceiverRecord['attempts'][number][];
  /** The receivers whose lease was given back, in order. */
  readonly returned: string[];
  /** Thrown by each record, while it is set. */
  refusal: ((records: readonly ReceiverRecord[]) => Error | undefined) | undefined;
  /** Makes deliveries due, one event each. */
  queue(receiverId: string, count: number, origin?: Partial<DeliveryOrigin>): void;
  /** Ends the leases that are held. */
  expire(): void;
  due(): number;
}

function fakeWork(): FakeWork {
  const due = new Map<string, DueDelivery[]>();
  const held = new Map<string, string>();
  let leases = 0;
  let queued = 0;
  const work: FakeWork = {
    requests: [],
    renewed: [],
    recorded: [],
    returned: [],
    refusal: undefined,
    get leases() {
      return leases;
    },
    queue: (receiverId, count, origin) => {
      const list = due.get(receiverId) ?? [];
      due.set(receiverId, list);
      for (let added = 0; added < count; added += 1) {
        const id = `${receiverId}-${(queued += 1)}`;
        const event = anEvent({ id: `evt_${id}` });
        list.push({ id, attempt: 1, url: `https://${receiverId}/`, event, origin: { ...NO_ORIGIN, ...origin } });
      }
    },
    expire: () => {
      held.clear();
    },
    due: () => due.values().reduce((sum, list) => sum + list.length, 0),
    lease: async (limit) => {
      leases += 1;
      const free = [...due].filter(([id, list]) => list.length > 0 && !held.has(id)).slice(0, limit);
      const receivers = free.map(([id, list]) => {
        const lease = `lease_${leases}`;
        held.set(id, lease);
        return aLeasedReceiver({ id, lease, deliveries: list.slice(0, DELIVERIES_MAX) });
      });
      return { receivers, leaseMs: LEASE_MS, restMs: 0 };
    },
    renew: async (leases) => {
      work.renewed.push(leases);
      return leases.filter(({ receiverId, lease }) => held.get(receiverId) !== lease).map((one) => one.receiverId);
    },
    record: async (records) => {
      const refusal = work.refusal?.(records);
      if (refusal !== undefined) throw refusal;
      work.requests.push(records);
      const kept = records.filter(({ receiverId, lease }) => held.get(receiverId) === lease);
      for (const { receiverId, attempts, returned } of kept) {
        const made = new Set(attempts.map(({ deliveryId }) => deliveryId));
        due.set(
          receiverId,
          (due.get(receiverId) ?? []).filter(({ id }) => !made.has(id)),
        );
        work.recorded.push(...attempts);
        if (returned) work.returned.push(receiverId);
        if (returned) held.delete(receiverId);
      }
      return records.filter((record) => !kept.includes(record)).map(({ receiverId }) => receiverId);
    },
  };
  return work;
}

/** Receivers that the test scripts, by the host of their URL. Others answer at once. */
export interface FakeSender extends WebhookSender {
  readonly receivers: Map<string, Receiver>;
  readonly requests: WebhookRequest[];
  /** The span of each request. */
  readonly spans: readonly (Span | undefined)[];
  running(host: string): number;
  most(host: string): number;
  /** The most hosts with requests at one time. */
  mostHosts(): number;
}

function fakeSender(): FakeSender {
  const [receivers, requests] = [new Map<string, Receiver>(), [] as WebhookRequest[]];
  const spans: (Span | undefined)[] = [];
  const [running, most] = [new Map<string, number>(), new Map<string, number>()];
  let mostHosts = 0;
  const count = (host: string, change: number): void => {
    running.set(host, (running.get(host) ?? 0) + change);
    most.set(host, Math.max(most.get(host) ?? 0, running.get(host) ?? 0));
    mostHosts = Math.max(mostHosts, [...running.values()].filter((requests) => requests > 0).length);
  };
  return {
    receivers,
    requests,
    spans,
    running: (host) => running.get(host) ?? 0,
    most: (host) => most.get(host) ?? 0,
    mostHosts: () => mostHosts,
    send: async (request, { signal = NEVER, span }) => {
      spans.push(span);
      const { host } = new URL(request.url);
      requests.push(request);
      count(host, 1);
      try {
        return await (receivers.get(host) ?? (async () => anAnswer()))(request, signal);
      } finally {
        count(host, -1);
      }
    },
  };
}

export interface WebhookFixture {
  readonly work: FakeWork;
  readonly sender: FakeSender;
  readonly clock: FakeClock;
  /** A receiver that answers after this time, or when it is cut off. */
  readonly after: (ms: number, answer?: WebhookAnswer) => Receiver;
  /** The warnings and errors in the log. */
  readonly complaints: string[];
  start(options?: Partial<ReceiverPoolOptions>): LeasedPool;
}

export function aWebhookFixture(): WebhookFixture {
  const [work, sender, clock] = [fakeWork(), fakeSender(), fakeClock()];
  const complaints: string[] = [];
  const complain = (_fields: object, message: string): void => void complaints.push(message);
  return {
    work,
    sender,
    clock,
    complaints,
    after:
      (ms, answer = anAnswer()) =>
      async (_request, signal) => {
        await clock.sleep(ms, signal);
        if (signal.aborted) throw unavailable();
        return answer;
      },
    start: (options = {}) =>
      startReceiverPool({
        work,
        sender,
        eventBody: async ({ id }) => `{"id":"${id}"}`,
        workers: 8,
        drainMs: 5000,
        clock,
        log: { ...silentLog, warn: complain, error: complain },
        tracing: NO_TRACING,
        ...options,
      }),
  };
}
