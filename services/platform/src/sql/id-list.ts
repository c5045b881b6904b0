/** The sizes of the statements, so that their number does not grow with the number of ids. */
const SIZES = [1, 16] as const;

export interface IdList {
  /** `$2, $3, …` for `IN (…)`. */
  readonly parameters: string;
  readonly values: readonly string[];
}

/** The ids of one statement, at most `most`. Copies of the last one fill the list up to the size of the statement. */
export function idList(ids: readonly string[], most: number, firstParameter = 1): IdList {
  const size = SIZES.find((one) => one >= ids.length) ?? most;
  const values = Array.from({ length: size }, (_, index) => ids[index] ?? ids.at(-1) ?? '');
  return { parameters: values.map((_, index) => `$${firstParameter + index}`).join(', '), values };
}
