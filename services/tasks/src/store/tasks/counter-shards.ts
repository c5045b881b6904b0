import type { NewTask } from '../task-store.ts';
import { isChannelScope } from '../../domain/in-flight-scope.ts';

/** A counter and its limit. */
export type Cap = NewTask['caps'][number];

/** A counter, and the number of tasks that begin at once and are counted in it. */
export interface Demand extends Cap {
  readonly count: number;
}

/** The row in which tasks are counted: the row of the counter, or of one of its shards. */
export interface Permit extends Demand {
  readonly row: string;
  /** The rows of all shards of the counter, empty if it is not spread. */
  readonly shards: readonly string[];
}

/** A row counts at most as many tasks as it has permits. */
export interface Shard {
  readonly row: string;
  readonly count: number;
  readonly permits: number;
}

/** More rows than the connections of two processes would use at once. */
export const SHARDS_MAX = 32;
/** A small limit bounds the creates by itself: its tasks must end before others begin. */
const LIMIT_PER_SHARD = 32;

const SHARD_ROW = /^shard:\d+:(.+)$/s;

/** No scope begins like this. */
export function shardRow(scope: string, index: number): string {
  return `shard:${index}:${scope}`;
}

/** The counter of a row. */
export function scopeOfRow(row: string): string {
  return SHARD_ROW.exec(row)?.[1] ?? row;
}

export type ChoosePermits = (id: string, demands: readonly Demand[]) => readonly Permit[];

/**
 * Chooses the shards in turn, so that the transactions of a process that run at the same time meet in no row. The first
 * one follows from the id, so that processes begin at different shards.
 */
export function permitChooser(shardsMax: number): ChoosePermits {
  let next: number | undefined;
  return (id, demands) => {
    next = (next ?? sumOfCodes(id)) + 1;
    const turn = next;
    return demands.map((demand) => {
      const { scope, limit } = demand;
      const rows = Math.min(shardsMax, Math.floor(limit / LIMIT_PER_SHARD));
      if (rows < 2) return { ...demand, row: scope, shards: [] };
      const shards = Array.from({ length: rows }, (_, index) => shardRow(scope, index));
      return { ...demand, row: shards[turn % rows] ?? scope, shards };
    });
  };
}

function sumOfCodes(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum += text.charCodeAt(index);
  return sum;
}

/** The rows of a counter. `count` of the counter itself includes the permits of its shards. */
export interface CounterRows {
  readonly count: number;
  readonly shards: readonly Shard[];
}

/**
 * Takes permits and deals half of the free permits out to the shards of the counter. The other half stays with the
 * counter, for processes that know of no shards. Permits that no task uses are taken back first, so they are never lost
 * in a shard. Returns undefined if the limit does not allow all of them.
 */
export function deal(
  { count, shards }: CounterRows,
  { row, limit, count: wanted, shards: rows }: Permit,
): CounterRows | undefined {
  const counted = count - sum(shards, 'permits');
  const inFlight = counted + sum(shards, 'count');
  if (inFlight + wanted > limit) return undefined;
  const spare = rows.length === 0 ? 0 : Math.floor((limit - inFlight - wanted) / 2);
  const home = rows.indexOf(row);
  const dealt = shards.map((shard) => {
    const used = shard.row === row ? shard.count + wanted : shard.count;
    return {
      row: shard.row,
      count: used,
      permits: used + computeShare(rows.indexOf(shard.row), home, spare, rows.length),
    };
  });
  return { count: counted + (rows.length === 0 ? wanted : 0) + sum(dealt, 'permits'), shards: dealt };
}

/**
 * Computes the share of a shard in the spare permits. A remainder goes to the shards after the home shard, because
 * the next creates choose them.
 */
function computeShare(index: number, home: number, spare: number, shards: number): number {
  if (index < 0) return 0;
  const distance = (index - home - 1 + shards) % shards;
  return Math.floor(spare / shards) + (distance < spare % shards ? 1 : 0);
}

function sum(shards: readonly Shard[], key: 'count' | 'permits'): number {
  return shards.reduce((total, shard) => total + shard[key], 0);
}

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
