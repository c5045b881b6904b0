/** Whether a part can serve: stores, bus, peers. */
export type ReadyCheck = () => Promise<boolean>;

/** Whether a program can work, and whether it still accepts new work. */
export interface Readiness {
  readonly isReady: ReadyCheck;
  /** Aborted when the program begins to stop. */
  readonly stopping: AbortSignal;
}

export const ALWAYS_READY: Readiness = { isReady: async () => true, stopping: new AbortController().signal };
