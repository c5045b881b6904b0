import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { SqlStatement } from '@reelgate/platform/sql/sql';
import { addQuantities, floorToHour } from '../../domain/usage.ts';
import type { Quantities } from '../../domain/usage.ts';

/** The account, token and price key of a charge. */
export interface UsageOwner {
  readonly accountId: string;
  readonly tokenId: string;
  readonly priceKey: string;
}

export interface UsageCharge extends UsageOwner {
  readonly quantities: Quantities;
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
const ADDITIONS = QUANTITY_COLUMNS.map((column) => `${column} = usage_hours.${column} + excluded.${column}`).join(', ');
const KEYS = ['account_id', 'hour', 'token_id', 'price_key'] as const;
const COUNT = buildInsert(
  'usage_hours',
  [...KEYS, ...QUANTITY_COLUMNS],
  `ON CONFLICT (${KEYS.join(', ')}) DO UPDATE SET ${ADDITIONS}`,
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
  return ordered.map(([, { accountId, tokenId, priceKey, quantities }]) => {
    const key = { account_id: accountId, hour: floorToHour(at), token_id: tokenId, price_key: priceKey };
    return COUNT({ ...key, ...toQuantityRow(quantities) });
  });
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

function addCharge({ accountId, tokenId, priceKey, quantities }: UsageCharge, more: UsageCharge): UsageCharge {
  return { accountId, tokenId, priceKey, quantities: addQuantities(quantities, more.quantities) };
}
