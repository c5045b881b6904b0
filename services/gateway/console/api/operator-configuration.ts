/** GET /configuration: what the gateway that answers runs with. */
export interface ConfigurationView {
  /** The effective configuration; secrets are `***`. */
  readonly effective: unknown;
  /** The files that it was read from. */
  readonly files: readonly string[];
  /** Keys whose value in the files differs from the one in use, and both values, secrets as `***`. */
  readonly differences: readonly {
    readonly key: string;
    readonly running: unknown;
    readonly file: unknown;
    /** True if only a start takes the value up. */
    readonly needsStart: boolean;
  }[];
  /** The time at which the files were last applied. */
  readonly appliedAt: number;
  /** The reason for which the newest files are not in use; undefined if they are. */
  readonly refused?: string;
  readonly warnings: readonly string[];
  readonly version: string;
}
