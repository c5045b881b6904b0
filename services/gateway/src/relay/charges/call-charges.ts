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
  /** The client's word under which the charge is counted; undefined: none. */
  readonly label?: string | undefined;
}

/** The basis of a charge: what the upstream reported, an estimate, the hold, or nothing. */
export type Charge =
  { readonly basis: 'usage' | 'estimate'; readonly usage: Usage } | { readonly basis: 'hold' | 'released' };

/** Holds that are durable before the upstream is called. */
export interface DurableCharges {
  /** Resolves once the hold of the upper bound is durable; refuses with a Problem. */
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
   * True if billing is as good as certain to reserve the money of the order, and the hold is small. The call may then be
   * sent beside its hold.
   */
  readonly isForeseen: boolean;
  /**
   * Resolves once the upper bound is reserved, so that no other call can take the money; refuses with a Problem. The
   * caller waits until the hold is durable before it shows anything of an answer.
   */
  readonly reserved: Promise<ReservedHold>;
}

export interface ReservedHold {
  /** Resolves when the hold is durable; rejects with a Problem if that is unknown. Undefined if it is durable now. */
  readonly durable: Promise<void> | undefined;
}

export interface CallEnd {
  readonly callId: string;
  readonly charge: Charge;
  /** The channel that did the work, for its cost; undefined if none did. */
  readonly channel?: string | undefined;
}

/** Billing as the relay calls it: many calls in one request. */
export interface ChargeRequests {
  /** One answer for each order, in their order. */
  reserve(orders: readonly CallOrder[]): Promise<readonly OrderAnswer[]>;
  settle(ends: readonly CallEnd[]): Promise<void>;
}

/** The money that an account and its token could still hold when billing answered, in billionths. */
export interface RemainingMoney {
  readonly ofAccount: number;
  /** The part of the token; undefined if the token has no limit. */
  readonly ofToken: number | undefined;
}

export interface HeldOrder extends ReservedHold {
  readonly heldNanos: number;
  /** The money that is left; undefined if billing did not report it. */
  readonly remaining: RemainingMoney | undefined;
}

/** The reserved hold, or the reason for its refusal. */
export type OrderAnswer = HeldOrder | { readonly refusal: Error };

/** Lists the keys under which the price of a call can be configured, most specific first. */
export function listPriceKeys(endpoint: string, model: string): readonly string[] {
  return [`${model}__${endpoint.replaceAll('.', '_')}`, model];
}
