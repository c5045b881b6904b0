import type { Bound, Usage } from '../protocols/protocol.ts';

/** A call that is about to be made. */
export interface CallOrder {
  readonly callId: string;
  readonly accountId: string;
  readonly tokenId: string;
  /** The most particular first. */
  readonly priceKeys: readonly string[];
  readonly bound: Bound;
  /** Milliseconds since 1970; from then on billing charges the hold by itself. */
  readonly lapsesAt: number;
}

/** What a call is charged by: what the upstream reported, what is known of it otherwise, its hold, or nothing. */
export type Charge =
  { readonly basis: 'usage' | 'estimate'; readonly usage: Usage } | { readonly basis: 'hold' | 'released' };

/** The money of calls: held before the upstream is called, charged once after it. */
export interface CallCharges {
  /** Resolves once the upper bound is held; refuses with a Problem. */
  place(order: CallOrder): Promise<void>;
  /** Ends the call's hold. It never fails: it is repeated until billing has it, or the hold lapses. */
  settle(callId: string, charge: Charge): void;
}
