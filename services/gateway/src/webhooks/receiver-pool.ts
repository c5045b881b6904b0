import type { Clock } from '@reelgate/platform/clock';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Log } from '@reelgate/platform/log';
import type { Tracing } from '@reelgate/platform/trace/trace';
import type { WebhookSender } from '../clients/webhook-sender.ts';
import type { LeasedReceiver, WebhookWork } from '../clients/webhook-work-client.ts';
import { openAttemptRecords } from './attempt-records.ts';
import type { EventBody, BodyBytes } from './event-body.ts';
import { holdLeases } from './held-leases.ts';
import { serveReceiver } from './serve-receiver.ts';
import { shareBodies } from './event-body.ts';

const IDLE_MS = 1000;
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

export interface ReceiverPool {
  /** Leases receivers at once, without waiting for the next interval. */
  wake(): void;
  /**
   * Leases and begins nothing more, waits `drainMs` for the running attempts, at most until `over`, and then cuts them
   * off. What is recorded by then is never sent again.
   */
  stop(over?: AbortSignal): Promise<void>;
  /** The number of receivers that are served now. */
  readonly serving: () => number;
}

/**
 * Leases receivers with due deliveries while workers are free, and serves each of them until its lease is given back.
 */
export function startReceiverPool(options: ReceiverPoolOptions): ReceiverPool {
  const { work, sender, eventBody, workers, drainMs, clock, log, tracing } = options;
  const [stopping, over] = [new AbortController(), new AbortController()];
  const running = new Set<Promise<void>>();
  const permits = newSemaphore({ permits: workers, waitingMax: 0 });
  const records = openAttemptRecords({ work, clock, log });
  const leases = holdLeases({ work, clock, log });

  const begin = (
    receiver: LeasedReceiver,
    { until, ...lease }: { readonly until: number; readonly beginUntil: number; readonly encodeBody: BodyBytes },
  ): void => {
    const held = leases.hold({ receiverId: receiver.id, lease: receiver.lease }, until);
    const session = { ...lease, held, receiver, stopping: stopping.signal, over: over.signal };
    const done = serveReceiver({ sender, records, clock, log, tracing }, session)
      .catch((error: unknown) => {
        log.error({ receiverId: receiver.id, err: error }, 'the deliveries of a receiver failed');
      })
      .finally(() => {
        held.letGo();
        running.delete(done);
        permits.release();
        taker.wake();
      });
    running.add(done);
  };
  const taker = startWorker({
    name: 'webhook deliveries',
    clock,
    log,
    idleMs: IDLE_MS,
    apartMs: APART_MS,
    pass: async () => {
      const limit = Math.min(LEASE_MAX, workers - permits.inUse());
      if (limit <= 0) return 0;
      await leases.renewEnded();
      const at = clock.now();
      const { receivers, leaseMs, restMs } = await work.lease(limit);
      const session = { until: at + leaseMs, beginUntil: at + BEGIN_MS, encodeBody: shareBodies(eventBody) };
      for (const receiver of receivers) if (permits.tryAcquire()) begin(receiver, session);
      // with fewer than it asked for, there are no more
      return receivers.length < limit ? { dueAt: clock.now() + restMs } : receivers.length;
    },
  });
  const stop = async (cutOff: AbortSignal | undefined): Promise<void> => {
    stopping.abort();
    await taker.stop();
    await waitUntilDrained(running, { ms: drainMs, clock, over: cutOff });
    over.abort();
    records.stop();
    await Promise.all(running);
    await leases.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    wake: () => {
      taker.wake();
    },
    serving: () => permits.inUse(),
    stop: (cutOff) => (stopped ??= stop(cutOff)),
  };
}

interface DrainOptions {
  readonly ms: number;
  readonly clock: Clock;
  readonly over: AbortSignal | undefined;
}

/** Resolves when all have ended, and after the drain time at the latest. */
async function waitUntilDrained(running: ReadonlySet<Promise<void>>, { ms, clock, over }: DrainOptions): Promise<void> {
  const all = new AbortController();
  const late = over === undefined ? all.signal : AbortSignal.any([over, all.signal]);
  await Promise.race([Promise.all(running), clock.sleep(ms, late)]);
  all.abort();
}
