import type { Nanos } from '../../domain/money.ts';

/** Groups in the order of their names; within each group the order of the items. */
export function groupsBy<T>(items: readonly T[], readName: (item: T) => string): T[][] {
  const groups = Map.groupBy(items, readName);
  return [...groups].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
}

export function sumAmounts<T>(items: readonly T[], readAmount: (item: T) => Nanos): Nanos {
  let sum = 0n;
  for (const item of items) sum += readAmount(item);
  return sum;
}
