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

/** The charges for work and its costs at the upstream, with reported, estimated and unknown costs apart. */
export interface MarginCount {
  /** Work with a known cost: charged work, and failed work that its upstream charged. */
  readonly requests: bigint;
  readonly charged: Nanos;
  readonly cost: Nanos;
  /** The part of it with a cost that the upstream reported. The rest is estimated. */
  readonly reportedRequests: bigint;
  readonly reportedCharged: Nanos;
  readonly reportedCost: Nanos;
  /** Charged work with an unknown cost. */
  readonly uncostedRequests: bigint;
  readonly uncostedCharged: Nanos;
}

/** The margin of one group in one bucket of time. */
export interface GroupMargin extends MarginCount {
  readonly currency: string;
  /** The first millisecond of the bucket. */
  readonly bucketAt: number;
}

export const NO_MARGIN: MarginCount = {
  requests: 0n,
  charged: 0n,
  cost: 0n,
  reportedRequests: 0n,
  reportedCharged: 0n,
  reportedCost: 0n,
  uncostedRequests: 0n,
  uncostedCharged: 0n,
};

/** Counts one request; a cost that is undefined is not known. */
export function countMargin(charged: Nanos, cost: SourcedCost | undefined): MarginCount {
  if (cost === undefined) return { ...NO_MARGIN, uncostedRequests: 1n, uncostedCharged: charged };
  const { amount, source } = cost;
  const reported = { reportedRequests: 1n, reportedCharged: charged, reportedCost: amount };
  return { ...NO_MARGIN, requests: 1n, charged, cost: amount, ...(source === 'reported' ? reported : {}) };
}

export function addMargins(left: MarginCount, right: MarginCount): MarginCount {
  return {
    requests: left.requests + right.requests,
    charged: left.charged + right.charged,
    cost: left.cost + right.cost,
    reportedRequests: left.reportedRequests + right.reportedRequests,
    reportedCharged: left.reportedCharged + right.reportedCharged,
    reportedCost: left.reportedCost + right.reportedCost,
    uncostedRequests: left.uncostedRequests + right.uncostedRequests,
    uncostedCharged: left.uncostedCharged + right.uncostedCharged,
  };
}

export function isEmptyMargin({ requests, uncostedRequests }: MarginCount): boolean {
  return requests === 0n && uncostedRequests === 0n;
}
