/** The state of a count of the results. */
export interface ResultCount {
  readonly after: string;
  readonly bytes: number;
  /** Those of results that expire soon. */
  readonly expiring: number;
  readonly isWhole: boolean;
}

export const NO_RESULTS: ResultCount = { after: '', bytes: 0, expiring: 0, isWhole: false };

/** Counts the next page of objects. `soon`: results that expire until then expire soon. */
export type CountResults = (count: ResultCount, soon: number) => Promise<ResultCount>;
