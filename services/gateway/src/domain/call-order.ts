import type { PriceFacts, Usage } from './call-usage.ts';

/** A call with a hold. */
export interface CallOrder {
  readonly callId: string;
  readonly accountId: string;
  readonly tokenId: string;
  /** The most specific first. */
  readonly priceKeys: readonly string[];
  readonly facts: PriceFacts;
  /** Milliseconds since 1970. From then on billing charges the hold by itself. */
  readonly lapsesAt: number;
  /** The client's label for the charge, undefined if there is none. */
  readonly label?: string | undefined;
}

/** The basis of a charge: the report of the upstream, an estimate, the hold, or no delivery. */
export type CallCharge =
  { readonly basis: 'usage' | 'estimate'; readonly usage: Usage } | { readonly basis: 'hold' | 'released' };

export interface CallEnd {
  readonly callId: string;
  readonly charge: CallCharge;
  /** The channel that did the work, for its cost. Undefined if no channel did. */
  readonly channel?: string | undefined;
}

export interface ReservedHold {
  /**
   * Resolves when the hold is durable, and rejects with a Problem if that is unknown. Undefined if it is durable
   * already.
   */
  readonly durable: Promise<void> | undefined;
}

/** The money that an account and its token could still hold when billing answered, in billionths. */
export interface RemainingMoney {
  readonly ofAccount: number;
  /** The part of the token, undefined if the token has no limit. */
  readonly ofToken: number | undefined;
}

export interface HeldOrder extends ReservedHold {
  readonly heldNanos: number;
  /** The remaining money, undefined if billing did not report it. */
  readonly remaining: RemainingMoney | undefined;
}

/** The reserved hold, or the reason for its refusal. */
export type OrderAnswer = HeldOrder | { readonly refusal: Error };
