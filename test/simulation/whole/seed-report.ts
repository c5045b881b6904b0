import type { SeedActs } from './acts.ts';

/** What one seed did, as the program that runs it tells the one that started it. */
export interface SeedReport extends SeedActs {
  readonly seed: number;
  readonly tasks: number;
  readonly waiting: number;
  /** The orders that a client was given a task for. */
  readonly accepted: number;
  readonly works: number;
  readonly crashes: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly faults: readonly string[];
  /** Undefined: every rule held. */
  readonly rule: string | undefined;
  readonly detail: string | undefined;
}
