import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { newActiveSet } from '@reelgate/platform/active-set';
import { startWorker } from '@reelgate/platform/lifecycle/worker';

const CHECK_EVERY_MS = 1000;
/** Load balancers and clients end a silent stream, the strictest after 30 seconds. */
const SILENCE_MS = 15_000;

/** A running call. */
export interface WatchedCall {
  /** The time at which the upstream last sent bytes, or the gateway a heartbeat. */
  lastSentAt: number;
  /** The time at which the call must have ended. */
  readonly endsBy: number;
  beat(): void;
  /** Ends a call that has run for too long. */
  overrun(): void;
}

/** Checks all running calls once a second, with one timer. */
export interface CallWatch {
  /** Checks the call until the returned function is called. */
  add(call: WatchedCall): () => void;
  stop(): Promise<void>;
}

export function startCallWatch(clock: Clock, log: Log): CallWatch {
  const calls = newActiveSet<WatchedCall>();
  const worker = startWorker({
    name: 'watch of relayed calls',
    clock,
    log,
    idleMs: CHECK_EVERY_MS,
    pass: async () => {
      const now = clock.now();
      for (const call of calls.all()) {
        if (now >= call.endsBy) call.overrun();
        else if (now - call.lastSentAt >= SILENCE_MS) {
          call.lastSentAt = now;
          call.beat();
        }
      }
      return 0;
    },
  });
  return { add: (call) => calls.add(call), stop: () => worker.stop() };
}
