import { Code, ConnectError } from '@connectrpc/connect';
import { startTimer, systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { waitForAbort } from '../lifecycle/drain.ts';
import type { Log } from '../log.ts';
import { isProblem, CallEnded } from '../problem.ts';
import { recordDeadline } from '../passed-deadline.ts';
import { isFault } from './problems.ts';

/** The longest timer of Node. The clock is checked in any case. */
const TIMER_MS_MAX = 2 ** 31 - 1;
/** Two timers for the same time run within this time. */
const SAME_MOMENT_MS = 5;

/** The limits of a caller's wait for an answer. */
export interface CallBounds {
  /** Milliseconds since 1970, undefined without a deadline. */
  readonly deadline: number | undefined;
  /** Aborted when the caller leaves. */
  readonly gone: AbortSignal | undefined;
  /** The clock of the deadline, by default the system's. */
  readonly clock?: Clock | undefined;
}

export interface BoundsWatch {
  /** Aborted at the deadline or when the caller leaves. Its `throwIfAborted` reads the clock too. */
  readonly signal: AbortSignal;
  release(): void;
}

/**
 * Watches the bounds of a call until it is released, and reports their end once. Throws a CallEnded if they have ended
 * already.
 */
export function watchBounds(
  { deadline = Infinity, gone, clock = systemClock }: CallBounds,
  onEnd: (ended: CallEnded) => void = () => undefined,
): BoundsWatch {
  const isLate = (): boolean => clock.now() >= deadline;
  const whyOver = (): CallEnded | undefined => {
    if (isLate() || isDeadline(gone?.reason)) return new CallEnded('deadline_exceeded');
    return gone?.aborted === true ? new CallEnded('cancelled', gone.reason) : undefined;
  };
  const early = whyOver();
  if (early !== undefined) throw early;
  const ending = new AbortController();
  recordDeadline(ending.signal, deadline, clock);
  const end = (): void => {
    const ended = whyOver() ?? new CallEnded('deadline_exceeded');
    onEnd(ended);
    ending.abort(ended);
  };
  const stopTimer =
    deadline === Infinity ? undefined : startTimer(clock, Math.min(deadline - clock.now(), TIMER_MS_MAX), end);
  gone?.addEventListener('abort', end, { once: true });
  return {
    signal: withClockCheck(ending.signal, () => {
      if (isLate()) end();
    }),
    release: () => {
      stopTimer?.();
      gone?.removeEventListener('abort', end);
    },
  };
}

/**
 * Resolves with the result of a method. Rejects with a CallEnded at the deadline or when the caller leaves. The method
 * then continues alone, and its signal is aborted. A method calls `signal.throwIfAborted()` right before an
 * irreversible step. That call reads the clock, because timers run late in a busy process.
 */
export async function withinBounds<T>(bounds: CallBounds, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const watch = watchBounds(bounds, reject);
  try {
    return await Promise.race([over, run(watch.signal)]);
  } catch (thrown) {
    throw isPassedDeadline(bounds, thrown) ? new CallEnded('deadline_exceeded', thrown) : thrown;
  } finally {
    watch.release();
  }
}

/** A call to another service has the deadline of this one, and its timer may be the first of the two. */
function isPassedDeadline({ deadline = Infinity, clock = systemClock }: CallBounds, thrown: unknown): boolean {
  return isProblem(thrown, 'service_unavailable') && clock.now() >= deadline - SAME_MOMENT_MS;
}

/** Connect aborts the signal of a call at its deadline too. */
function isDeadline(reason: unknown): boolean {
  return reason instanceof ConnectError && reason.code === Code.DeadlineExceeded;
}

function withClockCheck(signal: AbortSignal, ask: () => void): AbortSignal {
  return Object.assign(signal, {
    throwIfAborted: () => {
      ask();
      AbortSignal.prototype.throwIfAborted.call(signal);
    },
  });
}

/** The calls of a server. A stop of the server waits for methods that outlive their callers. */
export interface RunningCalls {
  run<T>(method: string, bounds: CallBounds, call: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Resolves when no method runs, or at the abort. */
  settled(over: AbortSignal): Promise<void>;
}

export function newRunningCalls(log: Log): RunningCalls {
  const running = new Set<Promise<unknown>>();
  const keep = <T>(method: string, signal: AbortSignal, work: Promise<T>): Promise<T> => {
    running.add(work);
    void work
      .catch((thrown: unknown) => {
        if (signal.aborted && isFault(thrown))
          log.error({ method, err: thrown }, 'a call failed after its caller had left');
      })
      .finally(() => running.delete(work));
    return work;
  };
  return {
    run: (method, bounds, call) => withinBounds(bounds, (signal) => keep(method, signal, call(signal))),
    settled: async (over) => {
      await Promise.race([Promise.allSettled(running), waitForAbort(over)]);
    },
  };
}
