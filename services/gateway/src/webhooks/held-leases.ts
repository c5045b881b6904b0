import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { ReceiverLease, WebhookWork } from '../clients/webhook-work-client.ts';

/** A lease lasts some of these. */
const RENEW_MS = 2000;
/** The most leases in one request. */
const LEASES_MAX = 64;

/** A lease of this process, renewed until it is let go. */
export interface HeldLease {
  /** Reports whether an attempt may begin under it: it is not lost, and its time is not over. */
  isHeld(): boolean;
  /** Marks it as lost: nothing may be sent under it from now on. */
  lose(): void;
  /** Stops its renewal. */
  letGo(): void;
}

/** The leases of this process. No other process renews them, so each ends within seconds of the death of this one. */
export interface HeldLeases {
  /** `until`: when the lease ends unless it is renewed. */
  hold(lease: ReceiverLease, until: number): HeldLease;
  /** Renews at once what has ended. So the process takes no receiver again that it still serves. */
  renewEnded(): Promise<void>;
  /** The leases that are left end by themselves. */
  stop(): Promise<void>;
}

interface LeaseState {
  readonly lease: ReceiverLease;
  until: number;
  isLost: boolean;
}

export function holdLeases({
  work,
  clock,
  log,
}: {
  readonly work: WebhookWork;
  readonly clock: Clock;
  readonly log: Log;
}): HeldLeases {
  const all = new Set<LeaseState>();
  const renew = async (some: readonly LeaseState[]): Promise<void> => {
    for (let from = 0; from < some.length; from += LEASES_MAX) {
      const chunk = some.slice(from, from + LEASES_MAX);
      const at = clock.now();
      const { lost, leaseMs } = await work.renew(chunk.map(({ lease }) => lease));
      const isLost = new Set(lost);
      for (const held of chunk)
        if (isLost.has(held.lease.receiverId)) held.isLost = true;
        else held.until = at + leaseMs;
    }
  };
  const listKept = (): readonly LeaseState[] => [...all].filter(({ isLost }) => !isLost);
  const keeper = startWorker({
    name: 'webhook leases',
    clock,
    log,
    idleMs: RENEW_MS,
    pass: async () => {
      await renew(listKept());
      return 0;
    },
  });
  return {
    hold: (lease, until) => {
      const held: LeaseState = { lease, until, isLost: false };
      all.add(held);
      return {
        isHeld: () => !held.isLost && clock.now() < held.until,
        lose: () => {
          held.isLost = true;
        },
        letGo: () => {
          all.delete(held);
        },
      };
    },
    renewEnded: () => renew(listKept().filter(({ until }) => until <= clock.now())),
    stop: () => keeper.stop(),
  };
}
