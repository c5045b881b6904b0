import { useState } from 'preact/hooks';

export interface SteadyRows<Row> {
  readonly shown: readonly Row[];
  /** The number of new rows that wait. */
  readonly waiting: number;
  /** Lets the new rows in. */
  readonly accept: () => void;
}

/**
 * Rows that do not move under a reader's hand: a row that changes does so in its place, and a new one waits until it is
 * asked for.
 */
export function useSteadyRows<Row>(latest: readonly Row[], idOf: (row: Row) => string): SteadyRows<Row> {
  const [kept, setKept] = useState(latest);
  const shown = kept.length === 0 ? latest : updateInPlace(kept, latest, idOf);
  return {
    shown,
    waiting: countNewRows(kept, latest, idOf),
    accept: () => setKept(latest),
  };
}

/** The kept rows as they are now. */
export function updateInPlace<Row>(
  kept: readonly Row[],
  latest: readonly Row[],
  idOf: (row: Row) => string,
): readonly Row[] {
  const now = new Map(latest.map((row) => [idOf(row), row]));
  return kept.map((row) => now.get(idOf(row)) ?? row);
}

/** The rows above the first one that is known. Those below come from the next page, when older ones have gone. */
export function countNewRows<Row>(kept: readonly Row[], latest: readonly Row[], idOf: (row: Row) => string): number {
  const known = new Set(kept.map(idOf));
  const first = latest.findIndex((row) => known.has(idOf(row)));
  return kept.length === 0 ? 0 : first < 0 ? latest.length : first;
}
