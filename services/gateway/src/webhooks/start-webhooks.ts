import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { GatewayClients, SenderClient } from '../clients/gateway-clients.ts';
import { onDeliveriesDue } from '../events/subscriptions.ts';
import { shareBodies } from './event-body.ts';
import type { EventBody } from './event-body.ts';
import { startLeasedPool } from '../operations/leased-pool.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Tracing } from '@reelgate/platform/trace/trace';
import type { Client } from '@reelgate/platform/rpc/service';
import { Secret } from '@reelgate/platform/secret';
import type { LeasedWebhookReceiver, WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { withDeadline } from '../clients/caller.ts';
import { openAttemptRecords } from './attempt-records.ts';
import type { LeasedReceiver } from './make-attempt.ts';
import { serveReceiver } from './serve-receiver.ts';
import type { ReceiverWork } from './serve-receiver.ts';

interface WorkerSettings {
  /** The number of receivers that webhooks are delivered to at once, and the longest wait of a stop for attempts. */
  readonly webhooks: { readonly workers: number; readonly drainMs: number };
}

interface WebhookParts {
  readonly clients: GatewayClients;
  readonly eventBody: EventBody;
}

/** Starts the workers that deliver webhooks. */
export async function startWebhooks(
  { webhooks: { workers, drainMs } }: WorkerSettings,
  { clock, newId, log, metrics, bus, tracing }: Foundation,
  { clients, eventBody }: WebhookParts,
  lifecycle: Lifecycle,
): Promise<LeasedPool> {
  const pool = startReceiverPool({
    webhooks: clients.webhooks,
    sender: clients.sender,
    worker: newId('gateway'),
    eventBody,
    workers,
    drainMs,
    clock,
    log,
    tracing,
  });
  lifecycle.add('webhook deliveries', () => pool.stop());
  const help = 'Receivers of webhooks that this process is delivering to';
  metrics.gauge('reelgate_webhook_workers_busy', help, [], (gauge) => gauge.labels().set(pool.running()));
  const due = await onDeliveriesDue(bus, () => pool.wake());
  lifecycle.add('due deliveries', () => due.stop());
  return pool;
}

/** Receivers that become free or due meanwhile share the next lease. */
const APART_MS = 25;
/** The most receivers of one lease. */
const LEASE_MAX = 64;
/** No attempt begins later than this after the lease, so that receivers take turns. */
const BEGIN_MS = 40_000;

export interface ReceiverPoolOptions {
  readonly webhooks: Client<typeof WebhookService>;
  readonly sender: SenderClient;
  readonly eventBody: EventBody;
  /** Names this process, by a name that it drew at its start. */
  readonly worker: string;
  /** Maximum number of receivers that are served at once. */
  readonly workers: number;
  /** Maximum wait of a stop for running attempts, in milliseconds. */
  readonly drainMs: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly tracing: Tracing;
}

/**
 * Leases receivers with due deliveries while workers are free, and serves each of them until its lease is given back.
 * Attempts that are recorded when a stop is over are never sent again.
 */
export function startReceiverPool(options: ReceiverPoolOptions): LeasedPool {
  const { webhooks, sender, eventBody, worker, workers, drainMs, clock, log, tracing } = options;
  const records = openAttemptRecords({
    record: async (made) => (await webhooks.recordWebhookAttempts({ records: made }, withDeadline({}))).lostReceiverIds,
    clock,
    log,
  });
  return startLeasedPool<ReceiverWork>({
    name: 'webhook deliveries',
    workers,
    leaseMax: LEASE_MAX,
    drainMs,
    apartMs: APART_MS,
    clock,
    log,
    lease: async (limit) => {
      const beginUntil = clock.now() + BEGIN_MS;
      const { receivers, leaseMs, restMs } = await webhooks.leaseWebhookReceivers({ worker, limit }, withDeadline({}));
      const encodeBody = shareBodies(eventBody);
      // with fewer than it asked for, there are no more
      const next = receivers.length < limit ? { dueAt: clock.now() + Number(restMs) } : receivers.length;
      const work = receivers.map((receiver) => ({ receiver: hideSecrets(receiver), beginUntil, encodeBody }));
      return { work, leaseMs: Number(leaseMs), next };
    },
    renew: async (served) => {
      const leases = served.map(({ receiver: { receiverId, lease } }) => ({ receiverId, lease }));
      const lost = new Set((await webhooks.renewWebhookLeases({ leases }, withDeadline({}))).lostReceiverIds);
      return served.filter(({ receiver }) => lost.has(receiver.receiverId));
    },
    run: (session, held) => serveReceiver({ sender, records, clock, log, tracing }, { ...session, held }),
    onCutOff: () => records.stop(),
  });
}

/** Returns a receiver whose secrets no log prints. A delivery without its event is left out. */
export function hideSecrets({ secrets, deliveries, ...receiver }: LeasedWebhookReceiver): LeasedReceiver {
  return {
    ...receiver,
    secrets: secrets.map((secret) => new Secret(secret)),
    deliveries: deliveries.flatMap(({ event, ...due }) => (event === undefined ? [] : [{ ...due, event }])),
  };
}
