import { NOT_AWAITED } from '../clock.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { outsideRequests } from '../request-context.ts';

/** Repeats a pass until it is stopped. */
export interface Worker {
  /** Starts the next pass immediately. */
  wake(): void;
  /** Resolves when the running pass has ended. It can be called twice. */
  stop(): Promise<void>;
}

/** The amount of work that a pass did. If it knows when work is due next, 0 becomes that moment. */
export type PassResult = number | NextDue;

/** No work is due before this moment, unless the worker is woken. */
export interface NextDue {
  readonly dueAt: number;
  /** The amount of due work that the pass has done, undefined if no work was due. */
  readonly did?: number;
}

/** No moment is known at which work is due. */
export const NOTHING_DUE: NextDue = { dueAt: Infinity };

export interface WorkerOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Milliseconds between passes that did no work and do not know when work is due next. */
  readonly idleMs: number;
  /**
   * After a pass that did work, the next pass begins this long after the begin of the former, so that work that arrives
   * meanwhile shares it.
   */
  readonly apartMs?: number | undefined;
  /** Runs a pass. If it did work and there may be more, the next pass follows immediately. */
  readonly pass: (signal: AbortSignal) => Promise<PassResult>;
}

/** The return of a database or a peer is noticed within this time. */
const FAILURES_BACKOFF_MAX_MS = 5000;
/** Work that becomes due because the clock was set forward is noticed within this time. */
export const REST_MAX_MS = 5000;

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
      let mayRest = true;
      let restMs = idleMs;
      try {
        const result = await pass(stopping.signal);
        if (typeof result === 'number') {
          did = result;
          mayRest = did === 0;
        } else {
          did = result.did ?? 0;
          restMs = Math.max(idleMs, computeRestMs(result.dueAt, clock.now()));
        }
        failures = 0;
      } catch (error) {
        failures += 1;
        restMs = computeBackoffMs(failures, idleMs);
        log.error({ worker: name, failures, err: error }, 'a pass failed');
      }
      if (did > 0 && next > clock.now()) await clock.sleep(Math.min(apartMs, next - clock.now()), stopping.signal);
      if (!mayRest || woken) continue;
      pause = new AbortController();
      await clock.sleep(restMs, pause.signal);
    }
  };

  // its passes belong to no request, not even to the request that started it
  const running = outsideRequests(run);
  const wake = (): void => {
    woken = true;
    pause.abort(NOT_AWAITED);
  };
  return {
    wake,
    stop: async () => {
      stopping.abort();
      wake();
      await running;
    },
  };
}

/** Milliseconds until the next pass after some failures in a row. */
function computeBackoffMs(failures: number, idleMs: number): number {
  return Math.min(idleMs * 2 ** Math.min(failures, 10), Math.max(idleMs, FAILURES_BACKOFF_MAX_MS));
}

/** Returns the milliseconds for which a worker may rest if no work is due before this moment. */
export function computeRestMs(dueAt: number, now: number): number {
  return Math.max(0, Math.min(dueAt - now, REST_MAX_MS));
}
