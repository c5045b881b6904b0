/** The sandbox's time. Tests pass a clock that they move themselves. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs the work once after the delay, unless the returned function is called first. */
  after(delayMs: number, run: () => void): () => void;
};

/** The time of the sandbox, until it stops. */
export type SandboxTime = { readonly clock: Clock; readonly stopped: AbortSignal };

// A longer delay overflows the timer, which then fires immediately.
const delayMsMax = 2 ** 31 - 1;

export const wallClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(delayMs, delayMsMax));
    return () => clearTimeout(timer);
  },
};

/** A signal that aborts after the delay or together with the other signal; `release` cancels the timer. */
export function deadline(
  clock: Clock,
  delayMs: number,
  stopped: AbortSignal,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const late = new AbortController();
  const release = clock.after(delayMs, () => late.abort(new Error('too late')));
  return { signal: AbortSignal.any([late.signal, stopped]), release };
}

/** Resolves after the delay, or immediately when the sandbox stops. */
export function pause(clock: Clock, delayMs: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = new AbortController();
    const forget = clock.after(delayMs, () => {
      over.abort();
      resolve();
    });
    stopped.addEventListener(
      'abort',
      () => {
        forget();
        resolve();
      },
      { once: true, signal: over.signal },
    );
  });
}
