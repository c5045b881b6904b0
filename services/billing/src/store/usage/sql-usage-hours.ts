import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { SqlStatement } from '@reelgate/platform/sql/sql';
import { addMargins } from '../../domain/margin.ts';
import type { MarginCount } from '../../domain/margin.ts';
import { addQuantities, floorToHour } from '../../domain/usage.ts';
import type { Nanos } from '../../domain/money.ts';
import type { Quantities } from '../../domain/usage.ts';
import { groupsBy, sumAmounts } from '../balances/groups.ts';

/** The account, token and price key of a charge. */
export interface UsageOwner {
  readonly accountId: string;
  readonly tokenId: string;
  readonly priceKey: string;
}

export interface UsageCharge extends UsageOwner {
  readonly quantities: Quantities;
  readonly margin: MarginCount;
}

export const QUANTITY_COLUMNS = [
  'requests',
  'charged_nanos',
  'seconds',
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'images',
  'characters',
] as const;
const COST_COLUMNS = [
  'costed_requests',
  'costed_charged_nanos',
  'cost_nanos',
  'reported_requests',
  'reported_charged_nanos',
  'reported_cost_nanos',
] as const;
const KEYS = ['account_id', 'hour', 'token_id', 'price_key'] as const;
const buildCount = <C extends string>(columns: readonly C[]) =>
  buildInsert(
    'usage_hours',
    [...KEYS, ...columns],
    `ON CONFLICT (${KEYS.join(', ')})
    DO UPDATE SET ${columns.map((column) => `${column} = usage_hours.${column} + excluded.${column}`).join(', ')}`,
  );
const COUNT = buildCount(QUANTITY_COLUMNS);
/** The count of work whose cost is known. Other work does not pay for the columns. */
const COUNT_COSTED = buildCount([...QUANTITY_COLUMNS, ...COST_COLUMNS]);
const COUNT_FAILED = buildInsert(
  'failed_cost_hours',
  ['account_id', 'hour', 'requests', 'cost_nanos'],
  `ON CONFLICT (account_id, hour) DO UPDATE SET requests = failed_cost_hours.requests + excluded.requests,
    cost_nanos = failed_cost_hours.cost_nanos + excluded.cost_nanos`,
);

function toQuantityRow(sum: Quantities): NamedValues<(typeof QUANTITY_COLUMNS)[number]> {
  return {
    requests: sum.requests,
    charged_nanos: sum.charged,
    seconds: sum.seconds,
    input_tokens: sum.inputTokens,
    cached_input_tokens: sum.cachedInputTokens,
    output_tokens: sum.outputTokens,
    images: sum.images,
    characters: sum.characters,
  };
}

function toCostRow(margin: MarginCount): NamedValues<(typeof COST_COLUMNS)[number]> {
  return {
    costed_requests: margin.requests,
    costed_charged_nanos: margin.charged,
    cost_nanos: margin.cost,
    reported_requests: margin.reportedRequests,
    reported_charged_nanos: margin.reportedCharged,
    reported_cost_nanos: margin.reportedCost,
  };
}

/**
 * The statements that add charges to their hour. They come before the changes of tokens and accounts, and have one order,
 * so that transactions never deadlock.
 */
export function buildUsageCounts(charges: Iterable<UsageCharge>, at: number): readonly SqlStatement[] {
  const sums = new Map<string, UsageCharge>();
  for (const run of mergeRuns(charges)) {
    const name = `${run.accountId} ${run.tokenId} ${run.priceKey}`;
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? run : addCharge(sum, run));
  }
  const ordered = [...sums].sort(([left], [right]) => (left < right ? -1 : 1));
  return ordered.map(([, { accountId, tokenId, priceKey, quantities, margin }]) => {
    const key = { account_id: accountId, hour: floorToHour(at), token_id: tokenId, price_key: priceKey };
    const counted = { ...key, ...toQuantityRow(quantities) };
    return margin.requests === 0n ? COUNT(counted) : COUNT_COSTED({ ...counted, ...toCostRow(margin) });
  });
}

/** Failed work that its upstream charged. */
export interface FailedCost {
  readonly accountId: string;
  readonly cost: Nanos;
}

/** The statements that add costs of failed work to their hour, in the order of the accounts. */
export function buildFailedCosts(costs: readonly FailedCost[], at: number): readonly SqlStatement[] {
  return groupsBy(costs, ({ accountId }) => accountId).map((group) =>
    COUNT_FAILED({
      account_id: group[0]?.accountId ?? '',
      hour: floorToHour(at),
      requests: BigInt(group.length),
      cost_nanos: sumAmounts(group, ({ cost }) => cost),
    }),
  );
}

/** Adds up consecutive charges of one owner: a batch has thousands of charges and few owners. */
function* mergeRuns(charges: Iterable<UsageCharge>): Generator<UsageCharge> {
  let run: UsageCharge | undefined;
  for (const charge of charges) {
    const isSame =
      run !== undefined &&
      run.tokenId === charge.tokenId &&
      run.priceKey === charge.priceKey &&
      run.accountId === charge.accountId;
    if (run !== undefined && !isSame) yield run;
    run = run !== undefined && isSame ? addCharge(run, charge) : charge;
  }
  if (run !== undefined) yield run;
}

function addCharge({ quantities, margin, ...owner }: UsageCharge, more: UsageCharge): UsageCharge {
  return {
    ...owner,
    quantities: addQuantities(quantities, more.quantities),
    margin: addMargins(margin, more.margin),
  };
}
