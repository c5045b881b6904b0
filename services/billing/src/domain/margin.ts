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

/**
 * The counts of a margin. `requests` are work with a known cost: charged work, and failed work that its upstream charged.
 * The reported counts are the part of it with a cost that the upstream reported; the rest is estimated. The uncosted ones
 * are charged work with an unknown cost.
 */
const MARGIN_COUNTS = [
  'requests',
  'charged',
  'cost',
  'reportedRequests',
  'reportedCharged',
  'reportedCost',
  'uncostedRequests',
  'uncostedCharged',
] as const;
type MarginName = (typeof MARGIN_COUNTS)[number];

/** The charges for work and its costs at the upstream, with reported, estimated and unknown costs apart. */
export type MarginCount = Readonly<Record<MarginName, bigint>>;

/** The margin of one group in one bucket of time. */
export interface GroupMargin extends MarginCount {
  readonly currency: string;
  /** The first millisecond of the bucket. */
  readonly bucketAt: number;
}

export const NO_MARGIN = collectMargin(() => 0n);

/** Collects each count of a margin. */
export function collectMargin(read: (name: MarginName) => bigint): MarginCount {
  const margin = {} as Record<MarginName, bigint>;
  for (const name of MARGIN_COUNTS) margin[name] = read(name);
  return margin;
}

/** Counts one request; a cost that is undefined is not known. */
export function countMargin(charged: Nanos, cost: SourcedCost | undefined): MarginCount {
  if (cost === undefined) return { ...NO_MARGIN, uncostedRequests: 1n, uncostedCharged: charged };
  const { amount, source } = cost;
  const reported = { reportedRequests: 1n, reportedCharged: charged, reportedCost: amount };
  return { ...NO_MARGIN, requests: 1n, charged, cost: amount, ...(source === 'reported' ? reported : {}) };
}

export function addMargins(left: MarginCount, right: MarginCount): MarginCount {
  return collectMargin((name) => left[name] + right[name]);
}

export function isEmptyMargin({ requests, uncostedRequests }: MarginCount): boolean {
  return requests === 0n && uncostedRequests === 0n;
}
