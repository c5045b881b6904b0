import type { ReportedUsage } from '../domain/hold.ts';
import type { Nanos } from '../domain/money.ts';
import type { PriceFacts } from '../domain/price.ts';
import { computeUpstreamCost } from '../domain/apply-usage.ts';
import type { BillingDeps } from './deps.ts';

export interface ChargedWork {
  /** The channel that did the work; undefined: none did. */
  readonly channel: string | undefined;
  readonly currency: string;
  readonly facts: PriceFacts;
  readonly usage: ReportedUsage;
  /** The amount that was charged for the work. */
  readonly charged: Nanos;
}

/**
 * Counts what the work costs at its upstream, if its channel has a price for it. Only its first settlement calls it.
 */
export function countUpstreamCost(
  { measures, moneyCounts, upstreamPrices, log }: BillingDeps,
  { channel, currency, facts, usage, charged }: ChargedWork,
): void {
  if (channel === undefined) return;
  const { priceKey } = facts;
  const terms = upstreamPrices().get(channel)?.get(priceKey);
  if (terms === undefined) return;
  const amount = computeUpstreamCost(terms, facts, usage);
  if (typeof amount === 'string') {
    log.warn({ channel, priceKey, fault: amount }, 'the upstream price has no amount');
    return;
  }
  measures.upstreamCost({ channel, priceKey, currency, amount });
  moneyCounts.margin({ channel, priceKey, currency }, charged, amount);
}
