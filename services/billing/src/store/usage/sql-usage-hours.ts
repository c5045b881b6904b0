import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { SqlStatement } from '@reelgate/platform/sql/sql';
import { addMargins } from '../../domain/margin.ts';
import type { MarginCount } from '../../domain/margin.ts';
import { PART_COUNTS, QUANTITIES, addQuantities, floorToHour } from '../../domain/usage.ts';
import type { Nanos } from '../../domain/money.ts';
import type { PartCount, Quantities } from '../../domain/usage.ts';
import { groupsBy, sumAmounts } from '../balances/groups.ts';

/** The account, token and price key of a charge, and the label of its request. */
export interface UsageOwner {
  readonly accountId: string;
  readonly tokenId: string;
  readonly priceKey: string;
  /** Undefined if there is no label. */
  readonly label: string | undefined;
}

/** A charge as it is counted under its label. */
interface LabelledCharge extends UsageOwner {
  readonly quantities: Quantities;
}

export interface UsageCharge extends LabelledCharge {
  readonly margin: MarginCount;
}

/** The columns of the quantities, by their names. */
export const QUANTITY_COLUMNS = {
  requests: 'requests',
  charged: 'charged_nanos',
  seconds: 'seconds',
  inputTokens: 'input_tokens',
  cachedInputTokens: 'cached_input_tokens',
  outputTokens: 'output_tokens',
  images: 'images',
  characters: 'characters',
} as const satisfies Readonly<Record<(typeof QUANTITIES)[number], string>>;
type QuantityColumn = (typeof QUANTITY_COLUMNS)[keyof typeof QUANTITY_COLUMNS];
const QUANTITY_LIST = Object.values(QUANTITY_COLUMNS);
/** The columns of the parts, by their names. */
export const PART_COLUMNS = {
  cacheWrite: 'cache_write_tokens',
  cacheWrite1h: 'cache_write_1h_tokens',
  audioInput: 'audio_input_tokens',
  cachedAudio: 'cached_audio_tokens',
  imageInput: 'image_input_tokens',
  cachedImage: 'cached_image_tokens',
  reasoning: 'reasoning_tokens',
  audioOutput: 'audio_output_tokens',
  imageOutput: 'image_output_tokens',
  searches: 'searches',
} as const satisfies Readonly<Record<PartCount, string>>;
const PARTS = Object.values(PART_COLUMNS);
export const COUNT_COLUMNS = [...QUANTITY_LIST, ...PARTS] as const;
const COST_COLUMNS = [
  'costed_requests',
  'costed_charged_nanos',
  'cost_nanos',
  'reported_requests',
  'reported_charged_nanos',
  'reported_cost_nanos',
] as const;
/** The keys of the sums of hours, and of the sums of labelled work alone. */
export const HOUR_KEYS = ['account_id', 'hour', 'token_id', 'price_key'] as const;
export const LABEL_KEYS = ['account_id', 'hour', 'label', 'token_id', 'price_key'] as const;
const buildCount = <K extends string, C extends string>(table: string, keys: readonly K[], columns: readonly C[]) =>
  buildInsert(
    table,
    [...keys, ...columns],
    `ON CONFLICT (${keys.join(', ')})
    DO UPDATE SET ${columns.map((column) => `${column} = ${table}.${column} + excluded.${column}`).join(', ')}`,
  );
const COUNT = buildCount('usage_hours', HOUR_KEYS, QUANTITY_LIST);
/** Counts work with a known cost or known parts. Other work skips these columns, because writing them costs time. */
const COUNT_MORE = buildCount('usage_hours', HOUR_KEYS, [...COUNT_COLUMNS, ...COST_COLUMNS]);
const COUNT_LABEL = buildCount('label_hours', LABEL_KEYS, COUNT_COLUMNS);
const COUNT_FAILED = buildInsert(
  'failed_cost_hours',
  ['account_id', 'hour', 'requests', 'cost_nanos'],
  `ON CONFLICT (account_id, hour) DO UPDATE SET requests = failed_cost_hours.requests + excluded.requests,
    cost_nanos = failed_cost_hours.cost_nanos + excluded.cost_nanos`,
);

function listQuantities(sum: Quantities): NamedValues<QuantityColumn> {
  const row = {} as Record<QuantityColumn, bigint>;
  for (const name of QUANTITIES) row[QUANTITY_COLUMNS[name]] = sum[name];
  return row;
}

function listParts({ parts = {} }: Quantities): NamedValues<(typeof PARTS)[number]> {
  const row = {} as Record<(typeof PARTS)[number], bigint>;
  for (const name of PART_COUNTS) row[PART_COLUMNS[name]] = parts[name] ?? 0n;
  return row;
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
 * The statements that add charges to their hour, and labelled ones to the hour of their label too. They come before the
 * changes of tokens and accounts, and have one order, so that transactions never deadlock.
 */
export function buildUsageCounts(charges: readonly UsageCharge[], at: number): readonly SqlStatement[] {
  const sums = sumInOrder(charges, { isSame: isSameOwner, name: nameOwner, add: addCharge });
  return [
    ...sums.map((sum) => {
      const counted = toHourRow(sum, at);
      return sum.margin.requests === 0n && sum.quantities.parts === undefined
        ? COUNT(counted)
        : COUNT_MORE({ ...counted, ...listParts(sum.quantities), ...toCostRow(sum.margin) });
    }),
    ...buildLabelCounts(charges, at),
  ];
}

/** The statements that add charges to the hours of their labels. */
function buildLabelCounts(charges: readonly LabelledCharge[], at: number): readonly SqlStatement[] {
  const labelled = charges.filter(({ label }) => label !== undefined);
  const sums = sumInOrder(labelled, { isSame: isSameLabel, name: nameLabel, add: addLabelled });
  return sums.map((sum) =>
    COUNT_LABEL({ ...toHourRow(sum, at), ...listParts(sum.quantities), label: sum.label ?? '' }),
  );
}

function toHourRow({ accountId, tokenId, priceKey, quantities }: LabelledCharge, at: number) {
  const key = { account_id: accountId, hour: floorToHour(at), token_id: tokenId, price_key: priceKey };
  return { ...key, ...listQuantities(quantities) };
}

function isSameOwner(one: UsageOwner, other: UsageOwner): boolean {
  return one.tokenId === other.tokenId && one.priceKey === other.priceKey && one.accountId === other.accountId;
}

function isSameLabel(one: UsageOwner, other: UsageOwner): boolean {
  return one.label === other.label && isSameOwner(one, other);
}

function nameOwner({ accountId, tokenId, priceKey }: UsageOwner): string {
  return `${accountId} ${tokenId} ${priceKey}`;
}

function nameLabel(owner: UsageOwner): string {
  return `${owner.label ?? ''} ${nameOwner(owner)}`;
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

interface SumRule<T> {
  readonly isSame: (one: T, other: T) => boolean;
  readonly name: (charge: T) => string;
  readonly add: (sum: T, more: T) => T;
}

/** Adds up charges of one name, and puts the sums in the order of their names. */
function sumInOrder<T>(charges: readonly T[], rule: SumRule<T>): readonly T[] {
  const sums = new Map<string, T>();
  for (const run of mergeRuns(charges, rule)) {
    const name = rule.name(run);
    const sum = sums.get(name);
    sums.set(name, sum === undefined ? run : rule.add(sum, run));
  }
  return [...sums].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum);
}

/** Adds up consecutive charges of one owner: a batch has thousands of charges and few owners. */
function* mergeRuns<T>(charges: readonly T[], { isSame, add }: SumRule<T>): Generator<T> {
  let run: T | undefined;
  for (const charge of charges) {
    const continues = run !== undefined && isSame(run, charge);
    if (run !== undefined && !continues) yield run;
    run = run !== undefined && continues ? add(run, charge) : charge;
  }
  if (run !== undefined) yield run;
}

function addLabelled<T extends LabelledCharge>(sum: T, { quantities }: T): T {
  return { ...sum, quantities: addQuantities(sum.quantities, quantities) };
}

function addCharge(sum: UsageCharge, more: UsageCharge): UsageCharge {
  return { ...addLabelled(sum, more), margin: addMargins(sum.margin, more.margin) };
}
