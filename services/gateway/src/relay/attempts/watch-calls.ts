import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { newActiveSet } from '@reelgate/platform/active-set';
import { startWorker } from '@reelgate/platform/lifecycle/worker';

const LOOK_EVERY_MS = 1000;
/** Load balancers and clients give up on a silent stream, the strictest after 30 seconds. */
const SILENCE_MS = 15_000;

/** A call that runs. */
export interface WatchedCall {
  /** When something last went to its client. */
  saidAt: number;
  /** From then on it may not run. */
  readonly endsBy: number;
  beat(): void;
  /** Ends it: it has run for too long. */
  overrun(): void;
}

/** Looks at all calls that run, once a second: one timer for however many there are. */
export interface CallWatch {
  /** Looks at it until what is returned is called. */
  add(call: WatchedCall): () => void;
  stop(): Promise<void>;
}

export function startCallWatch(clock: Clock, log: Log): CallWatch {
  const calls = newActiveSet<WatchedCall>();
  const worker = startWorker({
    name: 'watch of relayed calls',
    clock,
    log,
    idleMs: LOOK_EVERY_MS,
    pass: async () => {
      const now = clock.now();
      for (const call of calls.all()) {
        if (now >= call.endsBy) call.overrun();
        else if (now - call.saidAt >= SILENCE_MS) {
          call.saidAt = now;
          call.beat();
        }
      }
      return 0;
    },
  });
  return { add: (call) => calls.add(call), stop: () => worker.stop() };
}
