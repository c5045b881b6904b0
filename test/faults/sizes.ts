import type { LoadRate } from './run-fault.ts';

export interface Size {
  readonly rate: LoadRate;
  /** From the stop of a pod until its listeners close, and from readiness until a pod counts as available. */
  readonly leadMs: number;
  readonly minReadyMs: number;
}

/** As a production cluster is set. */
export const LONG: Size = { rate: { createsPerSecond: 8, othersPerSecond: 16 }, leadMs: 5000, minReadyMs: 5000 };
/** Shorter waits, which are still longer than the names and the proxies need. */
export const SHORT: Size = { rate: { createsPerSecond: 2, othersPerSecond: 4 }, leadMs: 3000, minReadyMs: 3000 };
