const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
export type StopSignal = (typeof SIGNALS)[number];

/** A signal to a group of processes reaches this one twice: directly, and from npm. */
const SAME_REQUEST_MS = 1000;

export interface StopOptions {
  /** Now, in milliseconds. */
  readonly now: () => number;
  /** True if npm started this process and passes its signals on. */
  readonly isUnderNpm: boolean;
  /** Ends the process at once. */
  readonly end: (signal: StopSignal) => void;
}

/** Resolves with the first signal that asks for a stop. The second one ends the process at once. */
export function untilStopped({ now, isUnderNpm, end }: StopOptions): Promise<StopSignal> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const take = (signal: StopSignal): void => {
      if (firstAt === undefined) {
        firstAt = now();
        resolve(signal);
      } else if (!isUnderNpm || now() - firstAt >= SAME_REQUEST_MS) end(signal);
    };
    for (const signal of SIGNALS) process.on(signal, take);
  });
}
