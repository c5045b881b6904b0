import { isProblem } from '@reelgate/platform/problem';
import { runAndCount } from '../../billing-metrics.ts';
import {
  holdVoided,
  priceAboveMax,
  taskIdTaken,
  badField,
  holdEnded,
  noPrice,
  unknownHold,
} from '../../billing-refusals.ts';
import type { Hold, HoldRecord } from '../../domain/hold.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Nanos } from '../../domain/money.ts';
import type { Outcome, NewPrice } from '../../store/holds/hold-store.ts';
import type { BillingDeps } from '../deps.ts';
import { quotePrice } from '../prices/prices.ts';
import type { BoundQuote, PricedWork } from '../prices/prices.ts';
import { computeLeastBound } from '../../domain/apply-usage.ts';
import { computeAmount } from '../../domain/price.ts';
import type { PriceFacts } from '../../domain/price.ts';
import type { PriceTerms } from '../../domain/price-terms.ts';

export interface HoldRequest extends PricedWork {
  readonly taskId: string;
  readonly tokenId: string;
  /** The largest amount that the task can be charged, undefined if it has no bound. */
  readonly maxAmount?: Nanos | undefined;
  /** The client's word under which the charge is counted; undefined if the client gave no word. */
  readonly label?: string | undefined;
}

/**
 * Reserves the amount of the facts under the current contract, and freezes both, with the bound. A repeated call gets
 * the same hold. The written amount is the one that was compared with the bound, so a price that rises meanwhile has no
 * effect. If the caller leaves before the hold is durable, no hold remains.
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
    const quote = await quotePrice(deps, request);
    assertFits(quote, request.maxAmount);
    const { taskId, accountId, tokenId, maxAmount, label } = request;
    const { amount, currency, version } = quote;
    const facts = { ...request.facts, priceKey: quote.contract };
    return await deps.holds.place(
      {
        ...{ taskId, accountId, tokenId, amount, currency, maxAmount, label, facts },
        ...{ priceVersion: version, placedAt: deps.clock.now() },
      },
      signal,
    );
  } catch (error) {
    // A hold from an earlier call still stands, even if its price has risen or been removed since.
    const mayStand = isProblem(error, 'model_price_error') || isProblem(error, 'price_above_max');
    const record = mayStand ? await deps.holds.find(request.taskId) : undefined;
    if (record === undefined) throw error;
    return { record, isNew: false };
  }
}

/** Refuses a hold that is above its bound, or that its usage can bring above it. */
function assertFits({ amount, currency, leastBound }: BoundQuote, maxAmount: Nanos | undefined): void {
  if (maxAmount !== undefined && leastBound > maxAmount)
    throw priceAboveMax({ amount, currency, leastBound, maxAmount });
}

/** The hold if the task can be submitted under it: it belongs to the account and was not released. */
function requireUsableHold(record: HoldRecord, accountId: string): Hold {
  if (record.state === 'void') throw holdVoided();
  if (record.hold.accountId !== accountId) throw taskIdTaken();
  if (record.state === 'ended' && record.settlement.basis === 'released') throw holdVoided();
  return record.hold;
}

/** Throws the refusal that `placeHold` would throw now. Moves and reserves no money. */
export async function checkHold(deps: BillingDeps, request: Omit<HoldRequest, 'taskId' | 'label'>): Promise<void> {
  const { accountId, tokenId, maxAmount } = request;
  const quote = await quotePrice(deps, request);
  assertFits(quote, maxAmount);
  const { amount, currency } = quote;
  await deps.holds.assertCovered({ accountId, tokenId, currency }, amount, deps.clock.now());
}

/**
 * Computes the hold again from complete facts, under its frozen contract version, once. Refuses an amount above its
 * bound. A repeated call returns the hold as it stands.
 */
export async function extendHold(
  { holds, clock, measures, overrunFactor }: BillingDeps,
  taskId: string,
  facts: PriceFacts,
): Promise<Hold> {
  const { hold } = await runAndCount(
    measures.extension,
    async () => {
      const outcome = await holds.extend(taskId, clock.now(), (held, terms) =>
        reprice(held, terms, { facts, overrunFactor }),
      );
      if (outcome === undefined) throw unknownHold();
      const { record, isNew } = outcome;
      if (record.state === 'void') throw holdVoided();
      if (record.state === 'ended') throw holdEnded();
      return { hold: record.hold, isNew };
    },
    ({ isNew }) => (isNew ? 'extended' : 'repeated'),
  );
  return hold;
}

function reprice(
  { facts: { priceKey }, maxAmount, currency }: Hold,
  terms: PriceTerms,
  { facts, overrunFactor }: { readonly facts: PriceFacts; readonly overrunFactor: number },
): NewPrice {
  if (facts.priceKey !== priceKey) throw badField('facts.price_key', `must be ${priceKey}, the price key of the hold`);
  const amount = computeAmount(terms, facts);
  if (typeof amount === 'string') throw noPrice(amount);
  const leastBound = computeLeastBound({ amount, facts }, terms, overrunFactor);
  if (maxAmount !== undefined && leastBound > maxAmount)
    throw priceAboveMax({ amount, currency, leastBound, maxAmount });
  return { amount, facts };
}
