import type { BillingDeps } from '../deps.ts';
import type { HoldRequest } from './place-hold.ts';
import { quotePrice } from '../prices/quote-price.ts';

/** Refuses what a hold of these facts would be refused for now. Moves nothing, and promises nothing for later. */
export async function checkHold(
  { holds, clock, ...deps }: Pick<BillingDeps, 'accounts' | 'prices' | 'holds' | 'clock'>,
  { accountId, tokenId, facts }: Omit<HoldRequest, 'taskId'>,
): Promise<void> {
  const { amount, currency } = await quotePrice(deps, accountId, facts);
  await holds.assertCovered({ accountId, tokenId, currency }, amount, clock.now());
}
