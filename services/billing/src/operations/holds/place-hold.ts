import { isProblem } from '@reelgate/platform/problem';
import { runAndCount } from '../../billing-metrics.ts';
import { holdVoided, taskIdTaken } from '../../billing-refusals.ts';
import type { Hold, HoldRecord } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { Outcome } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';
import { quotePrice } from '../prices/quote-price.ts';

export interface HoldRequest {
  readonly taskId: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly facts: PriceFacts;
}

/**
 * Reserves the amount of the facts under the current contract, and freezes both. A repeated call gets the same hold. If
 * the caller leaves before the hold is durable, there is none.
 */
export async function placeHold(deps: BillingDeps, request: HoldRequest, signal?: AbortSignal): Promise<Hold> {
  const { hold, isNew } = await runAndCount(
    deps.measures.hold,
    async () => {
      const { record, isNew } = await placeOrFindHold(deps, request, signal);
      return { hold: requireUsableHold(record, request.accountId), isNew };
    },
    (placed) => (placed.isNew ? 'placed' : 'repeated'),
  );
  if (isNew)
    deps.log.info(
      { taskId: request.taskId, accountId: request.accountId, amount: formatAmount(hold.amount) },
      'a hold was placed',
    );
  return hold;
}

async function placeOrFindHold(
  deps: BillingDeps,
  request: HoldRequest,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  try {
    const { amount, currency, version } = await quotePrice(deps, request.accountId, request.facts);
    return await deps.holds.place(
      { ...request, amount, currency, priceVersion: version, placedAt: deps.clock.now() },
      signal,
    );
  } catch (error) {
    // A hold from an earlier call still stands, even if its price has been removed since.
    const record = isProblem(error, 'model_price_error') ? await deps.holds.find(request.taskId) : undefined;
    if (record === undefined) throw error;
    return { record, isNew: false };
  }
}

/** The hold if the task can be submitted under it: it belongs to the account and was not released. */
function requireUsableHold(record: HoldRecord, accountId: string): Hold {
  if (record.state === 'void') throw holdVoided();
  if (record.hold.accountId !== accountId) throw taskIdTaken();
  if (record.state === 'ended' && record.settlement.basis === 'released') throw holdVoided();
  return record.hold;
}

/** Refuses what `placeHold` would refuse now. Moves no money and reserves none. */
export async function checkHold(
  deps: BillingDeps,
  { accountId, tokenId, facts }: Omit<HoldRequest, 'taskId'>,
): Promise<void> {
  const { amount, currency } = await quotePrice(deps, accountId, facts);
  await deps.holds.assertCovered({ accountId, tokenId, currency }, amount, deps.clock.now());
}
