import type { CallEnd, CallOrder, ReservedHold } from '../../domain/call-order.ts';

/** Holds that are durable before the upstream is called. */
export interface DurableCharges {
  /** Resolves once the hold of the upper bound is durable. Refuses with a Problem. */
  place(order: CallOrder): Promise<void>;
  /** Ends the call's hold. It never fails: it is repeated until billing answers or the hold lapses. */
  settle(end: CallEnd): void;
}

/** The money of calls: it is held before the upstream is called, and charged once afterwards. */
export interface CallCharges extends DurableCharges {
  reserve(order: CallOrder): Reservation;
}

export interface Reservation {
  /**
   * True if billing is nearly certain to reserve the money of the order, and the hold is small. The call may then be
   * sent at the same time as its hold.
   */
  readonly isForeseen: boolean;
  /**
   * Resolves once the upper bound is reserved, so that no other call can take the money. Refuses with a Problem. The
   * caller waits until the hold is durable before it shows any part of an answer.
   */
  readonly reserved: Promise<ReservedHold>;
}

/** Lists the keys under which the price of a call can be configured, most specific first. */
export function listPriceKeys(endpoint: string, model: string): readonly string[] {
  return [`${model}__${endpoint.replaceAll('.', '_')}`, model];
}
