import type { Log } from '../log.ts';

/** The started parts of a program. They are stopped once, in reverse order. */
export interface Lifecycle {
  /** Aborted when the stop begins, before the first part is stopped. */
  readonly stopping: AbortSignal;
  /** Registers the stop of a part that has just been started. */
  add(name: string, stop: () => Promise<void> | void): void;
  stop(): Promise<void>;
}

export function openLifecycle(log: Log): Lifecycle {
  const started: { name: string; stop: () => Promise<void> | void }[] = [];
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    stopping.abort();
    for (const { name, stop } of started.toReversed()) {
      try {
        await stop();
      } catch (error) {
        log.error({ part: name, err: error }, 'a part did not stop cleanly');
      }
    }
  };
  return {
    stopping: stopping.signal,
    add: (name, stop) => {
      started.push({ name, stop });
    },
    stop: () => (stopped ??= stopAll()),
  };
}
