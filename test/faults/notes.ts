export const KINDS = [
  'create /v2',
  'create /v1',
  'read',
  'waiting read',
  'download',
  'relayed call',
  'relayed stream',
] as const;
export type Kind = (typeof KINDS)[number];

/** What a client saw of one request. Times are those of `performance.now()`. */
export interface Note {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
  /** The status; undefined if no whole answer came. */
  readonly status: number | undefined;
  /** The start of the answer, or the error of the connection. */
  readonly text: string;
  /** What the answer says about a repetition: `retry-after` or `x-should-retry`. */
  readonly advice: string | undefined;
}

const CONFLICT = 409;

/**
 * A repeated create whose first try still runs is told so, and when to repeat. That first try is a failure, its
 * repetition is not.
 */
export const failed = ({ status, advice }: Note): boolean =>
  status !== 200 && !(status === CONFLICT && advice !== undefined);

/** One line for each kind of failure, with its number and an example. */
export function listFailures(notes: readonly Note[]): readonly string[] {
  const groups = Map.groupBy(
    notes.filter(failed),
    ({ kind, status, advice, text }) => `${kind}: ${status ?? text}, ${advice ?? 'no advice'}`,
  );
  return [...groups].map(([group, some]) => `${some.length} × ${group}: ${some[0]!.text.slice(0, 160)}`);
}

/** The duration that this share of the requests does not exceed, in milliseconds. */
export function quantile(notes: readonly Note[], share: number): number {
  const durations = notes.map(({ from, to }) => to - from).sort((a, b) => a - b);
  return durations[Math.min(durations.length - 1, Math.floor(durations.length * share))] ?? Number.NaN;
}
