/** Time as the sandbox sees it. Tests hand in one that moves only when they say so. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after the delay, unless the returned function is called first. */
  after(delayMs: number, run: () => void): () => void;
};

// A longer delay would overflow the timer and run at once.
const delayMsMax = 2 ** 31 - 1;

export const wallClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, Math.min(delayMs, delayMsMax));
    return () => {
      clearTimeout(timer);
    };
  },
};

/** A signal that aborts after the delay or together with the other signal; `release` forgets the timer. */
export function deadline(
  clock: Clock,
  delayMs: number,
  stopped: AbortSignal,
): { readonly signal: AbortSignal; readonly release: () => void } {
  const late = new AbortController();
  const release = clock.after(delayMs, () => {
    late.abort(new Error('too late'));
  });
  return { signal: AbortSignal.any([late.signal, stopped]), release };
}

/** Resolves after the delay, or at once when everything stops. */
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
