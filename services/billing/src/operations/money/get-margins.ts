import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { MarginSplit as WireSplit } from '@reelgate/proto/billing/v1/account_service';
import { MarginGroupSchema, MarginPartSchema, MarginSumSchema } from '@reelgate/proto/billing/v1/money';
import type { MarginGroup, MarginSum } from '@reelgate/proto/billing/v1/money';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { DAY_MS, HOUR_MS, toModel } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { MarginBucket, MarginQuery, MarginRow } from '../../store/money/money-store.ts';
import type { BillingDeps } from '../deps.ts';
import { NO_MARGIN, addMargins, isEmptyMargin } from '../../domain/margin.ts';
import type { GroupMargin, MarginCount } from '../../domain/margin.ts';
import { clampToInt64 } from '../../domain/money.ts';

/** The hours of money are kept as long. */
const DAYS_MAX = 92;
const HOURS_MAX = 96;
const BUCKET_MS: Readonly<Record<MarginBucket, number>> = { hour: HOUR_MS, day: DAY_MS };

export type MarginSplit = EnumWord<typeof WireSplit>;

export interface MarginsQuery extends MarginQuery {
  readonly split: MarginSplit;
  /** The one channel, model or account to read. Undefined for all of them. */
  readonly key: string | undefined;
  /** The most groups of a currency that are named; all others are one. */
  readonly limit: number;
}

type MarginDeps = Pick<BillingDeps, 'margins' | 'models'>;

/**
 * The margins of a period over time, split by channel, model or account. Currencies stay apart. Ordered by currency, and
 * then by size, descending; the group of the rest is the last.
 */
export async function getMargins(deps: MarginDeps, asked: MarginsQuery, signal: AbortSignal): Promise<MarginGroup[]> {
  assertBounds(asked);
  const groups = newMarginGroups(asked.limit);
  for await (const part of readParts(deps, asked)) {
    signal.throwIfAborted();
    for (const { key, row } of part.rows) groups.add(key, row);
    if (part.isWhole) groups.cut();
  }
  return groups.list();
}

interface MarginPart {
  readonly rows: readonly { readonly key: string; readonly row: MarginRow }[];
  /** True if no later part has more of these groups. */
  readonly isWhole: boolean;
}

async function* readParts({ margins, models }: MarginDeps, asked: MarginsQuery): AsyncGenerator<MarginPart> {
  const { split, key: only, bucket } = asked;
  const unit = BUCKET_MS[bucket];
  const span = { bucket, from: asked.from - (asked.from % unit), to: Math.ceil(asked.to / unit) * unit };
  if (split === 'account') {
    for await (const rows of margins.ofAccounts(span, only))
      yield { rows: rows.map((row) => ({ key: row.key, row })), isWhole: true };
    return;
  }
  const known = models();
  for await (const rows of margins.ofPlaces(split === 'model' ? 'priceKey' : 'channel', span)) {
    const named = rows.map((row) => ({ key: split === 'model' ? toModel(row.key, known) : row.key, row }));
    yield { rows: only === undefined ? named : named.filter(({ key }) => key === only), isWhole: false };
  }
}

function assertBounds({ from, to, bucket }: MarginsQuery): void {
  if (from < 0) throw badField('from', 'must be a time from 1970 on');
  if (from >= to) throw badField('to', 'must be later than from');
  if (bucket === 'hour' && to - from > HOURS_MAX * HOUR_MS)
    throw badField('to', `must be at most ${HOURS_MAX} hours after from, if the bucket is an hour`);
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
}

export interface MarginGroups {
  add(key: string, margin: GroupMargin): void;
  /**
   * Keeps the largest groups of each currency, and adds the others to the rest. The groups must be whole: a later row
   * of a group in the rest becomes a group of its own.
   */
  cut(): void;
  /** By currency, and then the largest first; the rest is the last. */
  list(): MarginGroup[];
}

interface SummedGroup {
  readonly key: string;
  total: MarginCount;
  readonly buckets: Map<number, MarginCount>;
}

interface CurrencyGroups {
  readonly groups: Map<string, SummedGroup>;
  rest: SummedGroup | undefined;
}

/** Sums up groups. At most `most` of each currency are named. */
export function newMarginGroups(most: number): MarginGroups {
  const currencies = new Map<string, CurrencyGroups>();
  const cut = (): void => {
    for (const own of currencies.values()) cutGroups(own, most);
  };
  return {
    cut,
    add: (key, { currency, bucketAt, ...margin }) => {
      if (isEmptyMargin(margin)) return;
      const own = currencies.get(currency) ?? { groups: new Map<string, SummedGroup>(), rest: undefined };
      currencies.set(currency, own);
      const group = own.groups.get(key) ?? newGroup(key);
      own.groups.set(key, group);
      addToBucket(group, bucketAt, margin);
    },
    list: () => {
      cut();
      return [...currencies]
        .sort(compareFirst)
        .flatMap(([currency, { groups, rest }]) => [
          ...[...groups.values()].sort(compareSizes).map((group) => toGroup(group, currency, false)),
          ...(rest === undefined ? [] : [toGroup(rest, currency, true)]),
        ]);
    },
  };
}

function cutGroups(own: CurrencyGroups, most: number): void {
  if (own.groups.size <= most) return;
  for (const small of [...own.groups.values()].sort(compareSizes).slice(most)) {
    own.groups.delete(small.key);
    own.rest ??= newGroup('');
    for (const [at, margin] of small.buckets) addToBucket(own.rest, at, margin);
  }
}

function newGroup(key: string): SummedGroup {
  return { key, total: NO_MARGIN, buckets: new Map() };
}

function addToBucket(group: SummedGroup, at: number, margin: MarginCount): void {
  group.total = addMargins(group.total, margin);
  group.buckets.set(at, addMargins(group.buckets.get(at) ?? NO_MARGIN, margin));
}

/** The larger first: by the charges, or by the cost where that is more. */
function compareSizes(left: SummedGroup, right: SummedGroup): number {
  const [one, other] = [computeSize(left.total), computeSize(right.total)];
  if (one !== other) return one > other ? -1 : 1;
  return left.key < right.key ? -1 : 1;
}

function computeSize({ charged, uncostedCharged, cost }: MarginCount): bigint {
  const all = charged + uncostedCharged;
  return all > cost ? all : cost;
}

function compareFirst([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

/** An empty bucket of time is left out. */
function toGroup({ key, total, buckets }: SummedGroup, currency: string, rest: boolean): MarginGroup {
  return toMessage(MarginGroupSchema, {
    ...{ key, rest, currency, total: toSum(total) },
    parts: [...buckets]
      .sort(([one], [other]) => one - other)
      .map(([at, sum]) => toMessage(MarginPartSchema, { beginsAt: timestampFromMs(at), sum: toSum(sum) })),
  });
}

function toSum(sum: MarginCount): MarginSum {
  return toMessage(MarginSumSchema, {
    requests: sum.requests,
    chargedNanos: clampToInt64(sum.charged),
    costNanos: clampToInt64(sum.cost),
    reportedRequests: sum.reportedRequests,
    reportedChargedNanos: clampToInt64(sum.reportedCharged),
    reportedCostNanos: clampToInt64(sum.reportedCost),
    uncostedRequests: sum.uncostedRequests,
    uncostedChargedNanos: clampToInt64(sum.uncostedCharged),
  });
}
