import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { MarginGroupSchema, MarginPartSchema, MarginSumSchema } from '@reelgate/proto/billing/v1/money';
import type { MarginGroup, MarginSum } from '@reelgate/proto/billing/v1/money';
import { NO_MARGIN, addMargins, isEmptyMargin } from '../../domain/margin.ts';
import type { GroupMargin, MarginCount } from '../../domain/margin.ts';
import { clampToInt64 } from '../../domain/money.ts';

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
