import { isChannelScope } from '../../domain/in-flight-scope.ts';
import type { Cap, Demand } from './counter-shards.ts';

/** The task or job that is counted, and its counters. */
export interface CountedWork {
  readonly id: string;
  readonly caps: readonly Cap[];
}

interface RankedDemand {
  readonly scope: string;
  limit: number;
  count: number;
  rank: number;
}

/**
 * Sums the counters of tasks that begin in one transaction, in the order in which every transaction locks their rows: a
 * token before its makers, all of these before the counter of all tasks, and channels last. A token has as many
 * counters behind it as it has makers, whichever task counts it, so the order is the same in every process. If the
 * limit of a counter differs, because it has just changed, the lowest one counts.
 */
export function sumDemands(works: readonly CountedWork[]): readonly Demand[] {
  const [first] = works;
  if (first !== undefined && works.length === 1) return first.caps.map((cap) => ({ ...cap, count: 1 }));
  const sums = new Map<string, RankedDemand>();
  for (const { caps } of works) {
    let behind = 0;
    for (const { scope, limit } of caps.toReversed()) {
      const rank = isChannelScope(scope) ? 0 : (behind += 1);
      addDemand(sums, { scope, limit, count: 1, rank });
    }
  }
  return [...sums.values()]
    .sort((one, other) => other.rank - one.rank || (one.scope < other.scope ? -1 : 1))
    .map(({ scope, limit, count }) => ({ scope, limit, count }));
}

function addDemand(sums: Map<string, RankedDemand>, demand: RankedDemand): void {
  const known = sums.get(demand.scope);
  if (known === undefined) {
    sums.set(demand.scope, demand);
    return;
  }
  known.limit = Math.min(known.limit, demand.limit);
  known.count += demand.count;
  known.rank = Math.max(known.rank, demand.rank);
}
