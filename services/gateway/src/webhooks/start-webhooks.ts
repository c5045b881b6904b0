import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { GatewayClients } from '../clients/gateway-clients.ts';
import { onDeliveriesDue } from '../events/subscriptions.ts';
import type { EventBody } from './event-body.ts';
import { startReceiverPool } from './receiver-pool.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';

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
  metrics.gauge('reelgate_webhook_workers_busy', help, [], (gauge) => {
    gauge.labels().set(pool.running());
  });
  const due = await onDeliveriesDue(bus, () => {
    pool.wake();
  });
  lifecycle.add('due deliveries', () => due.stop());
  return pool;
}
