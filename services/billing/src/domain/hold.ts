import type { Nanos } from './money.ts';
import type { PriceFacts } from './price.ts';

/** The pre-consumption of a task. */
export interface Hold {
  readonly taskId: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly amount: Nanos;
  readonly currency: string;
  /** The frozen version of the contract under `facts.priceKey`. */
  readonly priceVersion: number;
  /** Frozen; completed at most once, by an extension. */
  readonly facts: PriceFacts;
  /** Milliseconds since 1970. */
  readonly placedAt: number;
}

/** What the upstream reports to have used, as far as it does. */
export interface ReportedUsage {
  /** Input and output together. */
  readonly seconds: bigint | undefined;
  readonly inputTokens: bigint | undefined;
  readonly outputTokens: bigint | undefined;
  /** Those of the tokens read that the upstream had in its cache. */
  readonly cachedInputTokens?: bigint | undefined;
  readonly images?: bigint | undefined;
  readonly characters?: bigint | undefined;
}

/** What a charge was computed from. */
export type ChargeBasis = 'usage' | 'estimate' | 'hold';

/** How a hold ended, or that a person has to say how. */
export interface Settlement {
  /** What was charged: nothing when released or deferred. */
  readonly amount: Nanos;
  readonly basis: ChargeBasis | 'released' | 'deferred';
  readonly at: number;
}

/** A settlement that waits for a person. */
export interface Deferral extends Settlement {
  /** What the usage comes to; undefined: more than an amount can be. */
  readonly wanted: Nanos | undefined;
}

/** What became of a task's money. A void is a release that came before the hold. */
export type HoldRecord =
  | { readonly state: 'open'; readonly hold: Hold; readonly deferral: Deferral | undefined }
  | { readonly state: 'ended'; readonly hold: Hold; readonly settlement: Settlement }
  | { readonly state: 'void'; readonly settlement: Settlement };
