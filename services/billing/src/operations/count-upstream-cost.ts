import type { ReportedUsage } from '../domain/hold.ts';
import type { Nanos } from '../domain/money.ts';
import type { PriceFacts } from '../domain/price.ts';
import { computeUpstreamCost } from '../domain/apply-usage.ts';
import { dropClass } from '../domain/price-class.ts';
import type { SourcedCost } from '../domain/margin.ts';
import type { BillingDeps } from './deps.ts';

interface Work {
  /** The channel that did the work, undefined if no channel did it. */
  readonly channel: string | undefined;
  readonly facts: PriceFacts;
}

/** Computes the cost of the work at its upstream. Returns undefined if its channel has no price for it. */
export function estimateUpstreamCost(
  { upstreamPrices, log }: BillingDeps,
  { channel, facts, usage }: Work & { readonly usage: ReportedUsage },
): Nanos | undefined {
  if (channel === undefined) return undefined;
  const { priceKey } = facts;
  const prices = upstreamPrices().get(channel);
  const terms = prices?.get(priceKey) ?? prices?.get(dropClass(priceKey));
  if (terms === undefined) return undefined;
  const amount = computeUpstreamCost(terms, facts, usage);
  if (typeof amount !== 'string') return amount;
  log.warn({ channel, priceKey, fault: amount }, 'the upstream price has no amount');
  return undefined;
}

export interface CostedWork extends Work {
  readonly currency: string;
  /** The amount that was charged for the work. Undefined if it has failed, because failed work is not charged. */
  readonly charged: Nanos | undefined;
  /** The cost that the charge is compared with, undefined if it is not known. */
  readonly cost: SourcedCost | undefined;
}

/**
 * Counts charged work with its cost at the upstream, and failed work that its upstream charged. Only the first
 * settlement of the work calls it.
 */
export function countUpstreamCost(
  { measures, moneyCounts }: BillingDeps,
  { channel, currency, facts, charged, cost }: CostedWork,
): void {
  if (charged === undefined && cost === undefined) return;
  const place = { channel: channel ?? '', priceKey: facts.priceKey, currency };
  if (channel !== undefined && cost !== undefined) measures.upstreamCost({ ...place, ...cost, charged: charged ?? 0n });
  moneyCounts.margin(place, charged ?? 0n, cost);
}
