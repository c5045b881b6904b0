/** What one seed did, as the program that runs it tells the one that started it. */
export interface SeedReport {
  readonly seed: number;
  readonly tasks: number;
  readonly waiting: number;
  readonly works: number;
  readonly crashes: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly faults: readonly string[];
  /** Undefined: every rule held. */
  readonly rule: string | undefined;
  readonly detail: string | undefined;
}
