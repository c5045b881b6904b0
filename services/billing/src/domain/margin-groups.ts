import { NO_MARGIN, addMargins, isEmptyMargin } from './margin.ts';
import type { MarginCount } from './margin.ts';

/** The margins of a channel, a model, an account, or of all that are not among the largest. */
export interface MarginGroup {
  readonly key: string;
  readonly isRest: boolean;
  readonly currency: string;
  readonly total: MarginCount;
  /** By the first millisecond of the bucket, in their order; a bucket with nothing is left out. */
  readonly buckets: readonly (readonly [at: number, sum: MarginCount])[];
}

/** The margin of one group in one bucket of time. */
export interface GroupMargin extends MarginCount {
  readonly currency: string;
  /** The first millisecond of the bucket. */
  readonly bucketAt: number;
}

export interface MarginGroups {
  add(key: string, margin: GroupMargin): void;
  /**
   * Leaves the largest groups of each currency, and adds the others to the rest. The groups must be whole: what comes
   * later for a group of the rest is a group of its own.
   */
  cut(): void;
  /** By currency, and then the largest first; the rest is the last. */
  list(): readonly MarginGroup[];
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

function toGroup({ key, total, buckets }: SummedGroup, currency: string, isRest: boolean): MarginGroup {
  return { key, isRest, currency, total, buckets: [...buckets].sort(([one], [other]) => one - other) };
}
