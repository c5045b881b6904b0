import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { silentLog } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret } from '@reelgate/platform/secret';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { NO_TRACING } from '@reelgate/platform/trace/trace';
import type { Span } from '@reelgate/platform/trace/trace';
import { MediaService, SendWebhookResponseSchema } from '@reelgate/proto/media/v1/media_service';
import type { SendWebhookRequest, SendWebhookResponse } from '@reelgate/proto/media/v1/media_service';
import { EventSchema, WebhookAttemptSchema } from '@reelgate/proto/tasks/v1/webhook';
import type { Event } from '@reelgate/proto/tasks/v1/webhook';
import {
  DueWebhookDeliverySchema,
  LeasedWebhookReceiverSchema,
  MadeWebhookAttemptSchema,
  WebhookService,
} from '@reelgate/proto/tasks/v1/webhook_service';
import type {
  DueWebhookDelivery,
  MadeWebhookAttempt,
  WebhookLease,
  WebhookReceiverRecord,
} from '@reelgate/proto/tasks/v1/webhook_service';
import type { SenderClient } from '../src/clients/gateway-clients.ts';
import type { DueDelivery, LeasedReceiver, MadeAttempt } from '../src/webhooks/make-attempt.ts';
import { startReceiverPool } from '../src/webhooks/start-webhooks.ts';
import type { ReceiverPoolOptions } from '../src/webhooks/start-webhooks.ts';
import type { LeasedPool } from '../src/operations/leased-pool.ts';

export const LEASE_MS = 10_000n;
const DELIVERIES_MAX = 32;
const SECRET_TEXT = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
export const SECRET = new Secret(SECRET_TEXT);

export type DeliveryInit = Exclude<MessageInitShape<typeof DueWebhookDeliverySchema>, DueWebhookDelivery>;
type AnswerInit = Exclude<MessageInitShape<typeof SendWebhookResponseSchema>, SendWebhookResponse>;

export type Receiver = (request: SendWebhookRequest, signal: AbortSignal) => Promise<SendWebhookResponse>;

export function anAnswer(over: AnswerInit = {}): SendWebhookResponse {
  return create(SendWebhookResponseSchema, { statusCode: 200, durationMs: 5n, answerHead: Buffer.from('ok'), ...over });
}

export function anEvent(over: Exclude<MessageInitShape<typeof EventSchema>, Event> = {}): Event {
  const createdAt = timestampFromMs(Date.UTC(2026, 0, 1));
  const ids = { id: 'evt_1', subjectId: 'task_1' };
  return create(EventSchema, { ...ids, type: 'video.completed', createdAt, ...over });
}

/** A delivery of an event of work that is not recorded, and whose request is not known. */
export function aDelivery(over: DeliveryInit = {}): DueDelivery {
  return { ...create(DueWebhookDeliverySchema, { attempt: 1, ...over }), event: anEvent() };
}

export function aLeasedReceiver(over: Partial<LeasedReceiver> = {}): LeasedReceiver {
  const ids = { receiverId: 'whe_1', lease: 'lease_1', accountId: 'demo' };
  return { ...create(LeasedWebhookReceiverSchema, ids), secrets: [SECRET], deliveries: [], ...over };
}

/** An attempt that failed with this error, or succeeded if it is empty, begun at this count of the circuit. */
export function aMadeAttempt(error: string, circuit: bigint): MadeAttempt {
  return { ...create(MadeWebhookAttemptSchema), attempt: create(WebhookAttemptSchema, { error }), circuit };
}

export const unavailable = (): Problem =>
  new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'not now' });

/** The receivers of the tasks service, in memory: a delivery is due until an attempt of it is recorded. */
export interface FakeWork {
  readonly client: Client<typeof WebhookService>;
  /** The requests that were taken. */
  readonly requests: (readonly WebhookReceiverRecord[])[];
  readonly leases: number;
  /** The leases that were renewed together. */
  readonly renewed: (readonly WebhookLease[])[];
  readonly recorded: MadeWebhookAttempt[];
  /** The receivers whose lease was given back, in order. */
  readonly returned: string[];
  /** Thrown by each record, while it is set. */
  refusal: ((records: readonly WebhookReceiverRecord[]) => Error | undefined) | undefined;
  /** Makes deliveries due, one event each. */
  queue(receiverId: string, count: number, origin?: DeliveryInit): void;
  /** Ends the leases that are held. */
  expire(): void;
  due(): number;
}

function fakeWork(): FakeWork {
  const due = new Map<string, DueWebhookDelivery[]>();
  const held = new Map<string, string>();
  let leases = 0;
  let queued = 0;
  const service = partialService(WebhookService, {
    leaseWebhookReceivers: async ({ limit }) => {
      leases += 1;
      const free = [...due].filter(([id, list]) => list.length > 0 && !held.has(id)).slice(0, limit);
      const receivers = free.map(([receiverId, list]) => {
        const lease = `lease_${leases}`;
        held.set(receiverId, lease);
        const [secrets, deliveries] = [[SECRET_TEXT], list.slice(0, DELIVERIES_MAX)];
        return { receiverId, lease, accountId: 'demo', secrets, deliveries };
      });
      return { receivers, leaseMs: LEASE_MS };
    },
    renewWebhookLeases: async ({ leases }) => {
      work.renewed.push(leases);
      const lost = leases.filter(({ receiverId, lease }) => held.get(receiverId) !== lease);
      return { lostReceiverIds: lost.map(({ receiverId }) => receiverId) };
    },
    recordWebhookAttempts: async ({ records }) => {
      const refusal = work.refusal?.(records);
      if (refusal !== undefined) throw refusal;
      work.requests.push(records);
      const kept = records.filter(({ receiverId, lease }) => held.get(receiverId) === lease);
      for (const { receiverId, attempts, returned } of kept) {
        const made = new Set(attempts.map(({ deliveryId }) => deliveryId));
        due.set(
          receiverId,
          (due.get(receiverId) ?? []).filter(({ deliveryId }) => !made.has(deliveryId)),
        );
        work.recorded.push(...attempts);
        if (returned) work.returned.push(receiverId);
        if (returned) held.delete(receiverId);
      }
      const lost = records.filter((record) => !kept.includes(record));
      return { lostReceiverIds: lost.map(({ receiverId }) => receiverId) };
    },
  });
  const work: FakeWork = {
    client: directClient(WebhookService, service, aCaller()),
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
        const deliveryId = `${receiverId}-${(queued += 1)}`;
        const event = anEvent({ id: `evt_${deliveryId}` });
        list.push({ ...aDelivery({ deliveryId, url: `https://${receiverId}/`, ...origin }), event });
      }
    },
    expire: () => {
      held.clear();
    },
    due: () => due.values().reduce((sum, list) => sum + list.length, 0),
  };
  return work;
}

/** Receivers that the test scripts, by the host of their URL. Others answer at once. */
export interface FakeSender {
  readonly client: SenderClient;
  readonly receivers: Map<string, Receiver>;
  readonly requests: SendWebhookRequest[];
  /** The span of each request. */
  readonly spans: readonly (Span | undefined)[];
  running(host: string): number;
  most(host: string): number;
  /** The most hosts with requests at one time. */
  mostHosts(): number;
}

function fakeSender(): FakeSender {
  const [receivers, requests] = [new Map<string, Receiver>(), [] as SendWebhookRequest[]];
  const spans: (Span | undefined)[] = [];
  const [running, most] = [new Map<string, number>(), new Map<string, number>()];
  let mostHosts = 0;
  const count = (host: string, change: number): void => {
    running.set(host, (running.get(host) ?? 0) + change);
    most.set(host, Math.max(most.get(host) ?? 0, running.get(host) ?? 0));
    mostHosts = Math.max(mostHosts, [...running.values()].filter((requests) => requests > 0).length);
  };
  const service = partialService(MediaService, {
    sendWebhook: async (request, { signal }) => {
      const { host } = new URL(request.url);
      requests.push(request);
      count(host, 1);
      try {
        return await (receivers.get(host) ?? (async () => anAnswer()))(request, signal);
      } finally {
        count(host, -1);
      }
    },
  });
  const client = directClient(MediaService, service, aCaller());
  return {
    client: {
      sendWebhook: (request, call) => {
        spans.push(call?.span);
        return client.sendWebhook(request, { ...call, span: undefined });
      },
    },
    receivers,
    requests,
    spans,
    running: (host) => running.get(host) ?? 0,
    most: (host) => most.get(host) ?? 0,
    mostHosts: () => mostHosts,
  };
}

export interface WebhookFixture {
  readonly work: FakeWork;
  readonly sender: FakeSender;
  readonly clock: FakeClock;
  /** A receiver that answers after this time, or when it is cut off. */
  readonly after: (ms: number, answer?: SendWebhookResponse) => Receiver;
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
        webhooks: work.client,
        sender: sender.client,
        worker: 'gateway_1',
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
