/** A seed that once broke a rule. It runs with each change, and must hold every rule. */
export interface KeptSeed {
  readonly seed: number;
  /** What the shrunk run did without, as `--without` takes it. */
  readonly without: readonly string[];
  /** The rule that it broke. */
  readonly rule: string;
  /** What went wrong, and why. */
  readonly cause: string;
  /** The day on which the cause was mended. */
  readonly mendedOn: string;
}

/** Every seed that found a fault of the product. A fault that is found adds its line, and no line is removed. */
export const KEPT_SEEDS: readonly KeptSeed[] = [];
