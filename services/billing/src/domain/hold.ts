import type { Nanos } from './money.ts';
import type { PriceFacts } from './price.ts';
import type { TokenParts } from './token-rates.ts';
import type { UpstreamCost } from './margin.ts';

/** The account and the token that a reserved amount is taken from. */
export interface Payer {
  readonly accountId: string;
  readonly tokenId: string;
  readonly currency: string;
}

/** The amount that is reserved for a task. */
export interface Hold extends Payer {
  readonly taskId: string;
  readonly amount: Nanos;
  /** The largest amount that the task can be charged, undefined if it has no bound. */
  readonly maxAmount?: Nanos | undefined;
  /** The client's word under which the charge is counted; undefined if the client gave no word. */
  readonly label?: string | undefined;
  /** The frozen version of the contract under `facts.priceKey`. */
  readonly priceVersion: number;
  /** Frozen; an extension completes them at most once. */
  readonly facts: PriceFacts;
  /** Milliseconds since 1970. */
  readonly placedAt: number;
}

/**
 * The counts that an upstream can report. The seconds are of input and output together, and the cached tokens are a part
 * of the input tokens.
 */
export const REPORTED_COUNTS = [
  'seconds',
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'images',
  'characters',
  'searches',
] as const;
export type ReportedCount = (typeof REPORTED_COUNTS)[number];

/** The usage as the upstream reports it. A count is undefined if the upstream does not report it. */
export type ReportedUsage = { readonly [name in ReportedCount]?: bigint | undefined } & {
  readonly parts?: TokenParts | undefined;
};

export const NOTHING_REPORTED: ReportedUsage = {};

/** The source of a charge. */
export type ChargeBasis = 'usage' | 'estimate' | 'hold';

/** The end of a hold, or its deferral until an operator decides. */
export interface Settlement {
  /** The charge; zero if released or deferred. */
  readonly amount: Nanos;
  readonly basis: ChargeBasis | 'released' | 'deferred';
  readonly at: number;
}

/** A settlement that waits for an operator. */
export interface Deferral extends Settlement {
  /** The amount of the usage, undefined if it exceeds the largest amount. */
  readonly wanted: Nanos | undefined;
}

/** The state of a task's money. A void is a release that came before the hold. */
export type HoldRecord =
  | { readonly state: 'open'; readonly hold: Hold; readonly deferral: Deferral | undefined }
  | { readonly state: 'ended'; readonly hold: Hold; readonly settlement: Settlement; readonly cost: UpstreamCost }
  | { readonly state: 'void'; readonly settlement: Settlement };

/**
 * The settlement of an ended hold, or the deferral of a hold that waits for an operator. Undefined while the hold is
 * open.
 */
export function readSettlement(record: HoldRecord): Settlement | undefined {
  return record.state === 'open' ? record.deferral : record.settlement;
}
