import { NOT_AWAITED } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { outsideRequests } from '../request-context.ts';

/** Repeats a pass until it is stopped. */
export interface Worker {
  /** Starts the next pass at once. */
  wake(): void;
  /** Resolves when the running pass has ended. It can be called twice. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds between passes that did nothing. */
  readonly idleMs: number;
  /** A pass after a pass that did work begins this long after its begin, so that what comes meanwhile shares it. */
  readonly apartMs?: number | undefined;
  /** One pass. Gives the amount of its work; if it is not 0, the next pass follows at once. */
  readonly pass: (signal: AbortSignal) => Promise<number>;
}

/** The return of a database or a peer is noticed within this time. */
const FAILURES_BACKOFF_MAX_MS = 5000;

export function startWorker({ name, clock, log, idleMs, apartMs = 0, pass }: WorkerOptions): Worker {
  const stopping = new AbortController();
  let pause = new AbortController();
  let woken = false;

  const run = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      woken = false;
      const next = clock.now() + apartMs;
      let did = 0;
      try {
        did = await pass(stopping.signal);
        failures = 0;
      } catch (error) {
        failures += 1;
        log.error({ worker: name, failures, err: error }, 'a pass failed');
      }
      if (did > 0 && next > clock.now()) await clock.sleep(Math.min(apartMs, next - clock.now()), stopping.signal);
      if (did > 0 || woken) continue;
      pause = new AbortController();
      const backoff = Math.min(idleMs * 2 ** Math.min(failures, 10), Math.max(idleMs, FAILURES_BACKOFF_MAX_MS));
      await clock.sleep(backoff, AbortSignal.any([pause.signal, stopping.signal]));
    }
  };

  // whichever request starts it, its passes belong to none
  const running = outsideRequests(run);
  return {
    wake: () => {
      woken = true;
      pause.abort(NOT_AWAITED);
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
