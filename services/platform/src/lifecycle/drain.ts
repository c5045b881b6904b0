/** The times for which a service continues after its stop was requested. */
export interface DrainTimes {
  /** Requests are still taken for this long, while callers learn that the process stops. */
  readonly leadMs: number;
  /** After the lead, running work can go on for this long. */
  readonly timeoutMs: number;
}

/** A stop that has begun. The checks of the process fail already. */
export interface Drain {
  /** Aborted after the lead: new work is refused from now on. */
  readonly closing: AbortSignal;
  /** Aborted at the end of the time-out: running work is cut off. */
  readonly over: AbortSignal;
  /** Once the program takes no new work, a connection without a request for this long is closed. */
  readonly idleMs: number;
}

/** Resolves when the signal is aborted. */
export function waitForAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
