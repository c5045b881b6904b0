/** The configuration that a process runs with. */
export interface RunningConfiguration {
  /** The effective configuration, with `***` for secrets. */
  readonly effective: unknown;
  /** The files that it was read from. */
  readonly files: readonly string[];
  /** Keys with a value in the files that differs from the value in use, and both values, with `***` for secrets. */
  readonly differences: readonly {
    readonly key: string;
    readonly running: unknown;
    readonly file: unknown;
    /** True if only a start takes the value up. */
    readonly needsStart: boolean;
  }[];
  /** The time at which the files were last applied. */
  readonly appliedAt: number;
  readonly warnings: readonly string[];
  readonly version: string;
}
