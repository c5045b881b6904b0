import type { PriceFacts, Usage } from '../protocols/protocol.ts';

/** A call whose money is held. */
export interface CallOrder {
  readonly callId: string;
  readonly accountId: string;
  readonly tokenId: string;
  /** The most specific first. */
  readonly priceKeys: readonly string[];
  readonly facts: PriceFacts;
  /** Milliseconds since 1970; from then on billing charges the hold by itself. */
  readonly lapsesAt: number;
}

/** The basis of a charge: what the upstream reported, an estimate, the hold, or nothing. */
export type Charge =
  { readonly basis: 'usage' | 'estimate'; readonly usage: Usage } | { readonly basis: 'hold' | 'released' };

/** The money of calls: it is held before the upstream is called, and charged once afterwards. */
export interface CallCharges {
  /** Resolves once the upper bound is held; refuses with a Problem. */
  place(order: CallOrder): Promise<void>;
  /** Ends the call's hold. It never fails: it is repeated until billing answers or the hold lapses. */
  settle(callId: string, charge: Charge): void;
}

export interface CallEnd {
  readonly callId: string;
  readonly charge: Charge;
}

/** Billing as the relay calls it: many calls in one request. */
export interface ChargeRequests {
  /** One answer for each order, in their order. Without a refusal the call is held. */
  place(orders: readonly CallOrder[]): Promise<readonly { readonly refusal: Error | undefined }[]>;
  settle(ends: readonly CallEnd[]): Promise<void>;
}
