import { create } from '@bufbuild/protobuf';
import type { Bus } from '@reelgate/platform/bus/bus';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { startWorker } from '@reelgate/platform/lifecycle/worker';
import type { Log } from '@reelgate/platform/log';
import { ReplicaServesSchema } from '@reelgate/proto/billing/v1/billing_events';

const ANNOUNCE_MS = 1000;
/** A replica that was silent for this long takes no calls. */
const SILENT_MS = 3000;

export interface ServingReplicas {
  /** Reports whether another replica takes calls. */
  hasOthers(): boolean;
  /** This replica takes no more calls. */
  leave(): Promise<void>;
  stop(): Promise<void>;
}

/** Announces to the other replicas that this one serves, and knows which of them serve. */
export async function startServingReplicas(
  replicaId: string,
  { bus, clock, log }: { readonly bus: Bus; readonly clock: Clock; readonly log: Log },
): Promise<ServingReplicas> {
  let lastSeenAt: number | undefined;
  const subscription = await bus.listen(ReplicaServesSchema, ({ replicaId: other }) => {
    if (other !== replicaId) lastSeenAt = clock.now();
  });
  const announcer = startWorker({
    name: 'serving replicas',
    clock,
    log,
    idleMs: ANNOUNCE_MS,
    pass: async () => {
      bus.announce(ReplicaServesSchema, create(ReplicaServesSchema, { replicaId }));
      return 0;
    },
  });
  return {
    hasOthers: () => lastSeenAt !== undefined && isRecent(clock, lastSeenAt, SILENT_MS),
    leave: () => announcer.stop(),
    stop: async () => {
      await announcer.stop();
      await subscription.stop();
    },
  };
}
