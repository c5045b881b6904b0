/** The money of a task as its owner sees it. */
export interface Charge {
  readonly state: 'held' | 'charged' | 'released';
  /** Billionths of the currency: the amount that is held, was charged, or was released without a charge. */
  readonly amountNanos: bigint;
  /** ISO 4217 code. */
  readonly currency: string;
}

/** Reports whether a charge can still change. A settled one never does. */
export function isSettled({ state }: Charge): boolean {
  return state !== 'held';
}

/** Returns the cost of a settled charge in billionths, or undefined while the money is held. */
export function readCost({ state, amountNanos }: Charge): bigint | undefined {
  if (state === 'held') return undefined;
  return state === 'charged' ? amountNanos : 0n;
}
