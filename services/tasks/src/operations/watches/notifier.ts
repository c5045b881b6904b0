/** Wakes the one reader of a stream. A notification that comes before the reader waits is kept. */
export interface Notifier {
  readonly notify: () => void;
  /** Resolves at the next notification. */
  readonly wait: () => Promise<void>;
}

export function newNotifier(): Notifier {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify: () => {
      isNotified = true;
      wake?.();
    },
    wait: async () => {
      if (!isNotified)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      isNotified = false;
      wake = undefined;
    },
  };
}
