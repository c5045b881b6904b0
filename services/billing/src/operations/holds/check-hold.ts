import type { BillingDeps } from '../deps.ts';
import type { HoldRequest } from './place-hold.ts';
import { quotePrice } from '../prices/quote-price.ts';

/** Refuses what `placeHold` would refuse now. Moves no money and reserves none. */
export async function checkHold(
  { holds, clock, ...deps }: Pick<BillingDeps, 'accounts' | 'prices' | 'holds' | 'clock'>,
  { accountId, tokenId, facts }: Omit<HoldRequest, 'taskId'>,
): Promise<void> {
  const { amount, currency } = await quotePrice(deps, accountId, facts);
  await holds.assertCovered({ accountId, tokenId, currency }, amount, clock.now());
}
