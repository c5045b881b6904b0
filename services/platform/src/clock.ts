export interface TimeSource {
  /** Milliseconds since 1970. */
  now(): number;
}

export interface Sleeper {
  /** Resolves after `ms` milliseconds, or as soon as the signal is aborted. It never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The source of time. Only this file and the fake clock of the tests read another source. */
export interface Clock extends TimeSource, Sleeper {
  /** True if all replicas read this one clock, as in a test. The clocks of machines differ. */
  readonly isShared?: boolean;
}

/** The reason of an abort that only ends a sleep. Without a reason, each abort creates an error with a stack. */
export const NOT_AWAITED = 'no longer awaited';

/**
 * Runs work with a signal that is aborted after `ms` milliseconds of the clock, or when the caller's signal is. The
 * timer and the listener are removed when the work has ended.
 */
export async function withTimeout<T>(
  clock: Sleeper,
  { ms, caller }: { readonly ms: number; readonly caller?: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const ended = new AbortController();
  void clock.sleep(ms, ended.signal).then(() => {
    if (!ended.signal.aborted) over.abort(new DOMException(`no end within ${ms} ms`, 'TimeoutError'));
  });
  try {
    return await run(caller === undefined ? over.signal : AbortSignal.any([caller, over.signal]));
  } finally {
    ended.abort(NOT_AWAITED);
  }
}

/**
 * Reports whether a time is less than `ms` milliseconds ago. If the clock was set back, a time in the future is not
 * recent.
 */
export function isRecent(clock: TimeSource, at: number, ms: number): boolean {
  const age = clock.now() - at;
  return age >= 0 && age < ms;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  // Most sleeps are deadlines that are cancelled. The promise of node:timers would create an error with a stack for
  // each.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const over = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, ms);
      signal?.addEventListener('abort', over, { once: true });
    }),
};

/**
 * Runs `end` after a time of the clock, unless the returned function is called before. Each call between services and
 * to an upstream has such a timer. A sleep that is aborted costs microseconds more than a timer of the system.
 */
export function startTimer(clock: Sleeper, ms: number, end: () => void): () => void {
  if (clock === systemClock) {
    const timer = setTimeout(end, ms);
    return () => clearTimeout(timer);
  }
  const stopping = new AbortController();
  void clock.sleep(ms, stopping.signal).then(() => {
    if (!stopping.signal.aborted) end();
  });
  return () => stopping.abort(NOT_AWAITED);
}
