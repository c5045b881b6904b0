import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Tracing } from '@reelgate/platform/trace/trace';
import type { WebhookSender } from '../clients/webhook-sender.ts';
import type { WebhookWork } from '../clients/webhook-work-client.ts';
import { startLeasedPool } from '../operations/leased-pool.ts';
import type { LeasedPool } from '../operations/leased-pool.ts';
import { openAttemptRecords } from './attempt-records.ts';
import { shareBodies } from './event-body.ts';
import type { EventBody } from './event-body.ts';
import { serveReceiver } from './serve-receiver.ts';
import type { ReceiverWork } from './serve-receiver.ts';

/** Receivers that become free or due meanwhile share the next lease. */
const APART_MS = 25;
/** The most receivers of one lease. */
const LEASE_MAX = 64;
/** No attempt begins later than this after the lease, so that receivers take turns. */
const BEGIN_MS = 40_000;

export interface ReceiverPoolOptions {
  readonly work: WebhookWork;
  readonly sender: WebhookSender;
  readonly eventBody: EventBody;
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
  const { work, sender, eventBody, workers, drainMs, clock, log, tracing } = options;
  const records = openAttemptRecords({ work, clock, log });
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
      const { receivers, leaseMs, restMs } = await work.lease(limit);
      const encodeBody = shareBodies(eventBody);
      // with fewer than it asked for, there are no more
      const next = receivers.length < limit ? { dueAt: clock.now() + restMs } : receivers.length;
      return { work: receivers.map((receiver) => ({ receiver, beginUntil, encodeBody })), leaseMs, next };
    },
    renew: async (served) => {
      const lost = new Set(await work.renew(served.map(({ receiver: { id, lease } }) => ({ receiverId: id, lease }))));
      return served.filter(({ receiver }) => lost.has(receiver.id));
    },
    run: (session, held) => serveReceiver({ sender, records, clock, log, tracing }, { ...session, held }),
    onCutOff: () => {
      records.stop();
    },
  });
}
