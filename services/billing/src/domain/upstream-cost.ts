import type { Nanos } from './money.ts';

/** The currency in which upstreams report their charges. */
const REPORTED_CURRENCY = 'USD';
const NANOS_PER_MICRO = 1000n;

/** The cost of work at its upstream, undefined if it is not known. */
export interface UpstreamCost {
  /** The charge that the upstream reported, in millionths of a US dollar. */
  readonly reportedMicroUsd: bigint | undefined;
  /** The cost by the upstream price of the channel, in the currency of the charge. */
  readonly estimated: Nanos | undefined;
}

/** A cost in the currency of a charge, and the source of it. */
export interface SourcedCost {
  readonly amount: Nanos;
  readonly source: 'reported' | 'estimated';
}

/**
 * Selects the cost that a charge in this currency is compared with: the reported one, or else the estimate. Sums never
 * mix currencies, so a charge in another one is compared with the estimate.
 */
export function selectCost(currency: string, { reportedMicroUsd, estimated }: UpstreamCost): SourcedCost | undefined {
  if (reportedMicroUsd !== undefined && currency === REPORTED_CURRENCY)
    return { amount: reportedMicroUsd * NANOS_PER_MICRO, source: 'reported' };
  return estimated === undefined ? undefined : { amount: estimated, source: 'estimated' };
}
