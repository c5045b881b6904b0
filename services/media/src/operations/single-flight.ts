/**
 * Work under a name is done once however many ask for it at the same moment. It goes on when they leave, since it has bounds of its own
 * and whoever asks next finds it done.
 */
export interface SingleFlight<T> {
  /** Rejects with the signal's reason when the signal is aborted first. */
  run(name: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Resolves when nothing runs any more. */
  settled(): Promise<void>;
}

export function singleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Promise<T>>();

  const start = (name: string, work: () => Promise<T>): Promise<T> => {
    const started = work().finally(() => running.delete(name));
    running.set(name, started);
    return started;
  };
  return {
    run: (name, work, signal) => orAborted(running.get(name) ?? start(name, work), signal),
    settled: async () => {
      await Promise.allSettled(running.values());
    },
  };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave);
    });
  });
}
