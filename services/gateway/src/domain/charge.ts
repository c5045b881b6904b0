/** The money of a task as its owner sees it. */
export interface Charge {
  readonly status: 'held' | 'charged' | 'released';
  /** Billionths of the currency: the amount that is held, was charged, or was released without a charge. */
  readonly amountNanos: bigint;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** Reports whether a charge can still change. A settled one never does. */
export function isSettled({ status }: Charge): boolean {
  return status !== 'held';
}

/** Returns the cost of a settled charge in billionths; undefined while the money is held. */
export function readCost({ status, amountNanos }: Charge): bigint | undefined {
  if (status === 'held') return undefined;
  return status === 'charged' ? amountNanos : 0n;
}
