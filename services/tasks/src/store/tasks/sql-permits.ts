import { byRows, inExactChunks, rowValues } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlRunner, SqlValue } from '@reelgate/platform/sql/sql';
import { SHARDS_MAX, deal, permitChooser, sumDemands } from './counter-shards.ts';
import type { Demand, Shard, Permit, CountedWork } from './counter-shards.ts';
import { selectNumber, selectTexts, text } from '../columns.ts';

/*
 * The counters of tasks in flight. A transaction takes its permits last, in one message, because others wait for these
 * rows until it is committed. Rows are locked in one order: the token's before those of all tasks, a counter's before
 * its shards. So transactions never wait for each other in a circle. INSERT takes its rows in the order of their
 * values; UPDATE does not.
 */

/** Tasks or jobs that are written together, or not at all. */
interface PermitsRequest {
  readonly works: readonly CountedWork[];
  /** The signals of their callers. If one of these leaves, the transaction is rolled back. */
  readonly signals?: readonly (AbortSignal | undefined)[];
  /** The carrier of the only task. Absent if it is not recorded. */
  readonly trace?: string | undefined;
}

interface PermitRequest extends CountedWork {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs the work and takes a permit of each counter in the same transaction. If a counter is full, it returns that
 * counter and rolls back.
 */
export type WithPermits = (
  counted: PermitRequest,
  work: (query: SqlRunner, permits: readonly Permit[]) => Promise<void>,
) => Promise<string | undefined>;

/**
 * The same for several tasks, in one transaction. The work gets the permits of each of them. A counter is full if it
 * has fewer free permits than they need.
 */
export type WithPermitsOfAll = (
  request: PermitsRequest,
  work: (query: SqlRunner, permits: readonly (readonly Permit[])[]) => Promise<void>,
) => Promise<string | undefined>;

/** The work that a transaction has chosen, and the full counter if it was rolled back. */
interface Choice<T> {
  readonly chosen: T | undefined;
  readonly full: string | undefined;
}

/**
 * The same for a task that the transaction itself chooses. If there is no task, it returns undefined, and the
 * transaction is committed.
 */
export type ChooseWithPermits = <T extends CountedWork>(
  choose: (query: SqlQuery) => Promise<T | undefined>,
  work: (query: SqlQuery, chosen: T, permits: readonly Permit[]) => Promise<void>,
) => Promise<Choice<T>>;

export interface Permits {
  readonly withPermits: WithPermits;
  readonly withPermitsOfAll: WithPermitsOfAll;
  readonly chooseWithPermits: ChooseWithPermits;
}

/** Takes the permits, or returns the counter that has too few. */
type Take = (query: SqlQuery, permits: readonly Permit[]) => Promise<string | undefined>;
type Run<T> = (take: Take) => Promise<Choice<T>>;

/** Rolls a transaction back because a counter is full. */
class Full extends Error {
  readonly scope: string;

  constructor(scope: string) {
    super(`${scope} is full`);
    this.scope = scope;
  }
}

/** SQLite has one writer at a time, so shards would not spread writes. */
export function shardsOn({ engine }: Sql): number {
  return engine === 'sqlite' ? 1 : SHARDS_MAX;
}

/** Tries before a create decides by itself, even if another one of this process is dealing permits out. */
const TRIES_MAX = 4;

/**
 * First each permit is taken from one row. If a row has no permit, another row may have one: then the transaction runs
 * again, and decides under locks on all rows of the counters, where it deals permits out to the shards. Of the creates
 * of a process one does that at a time, and the others use the dealt permits.
 */
export function sqlPermits(sql: Sql, shardsMax: number): Permits {
  const choosePermits = permitChooser(shardsMax);
  let dealing: Promise<unknown> | undefined;
  const decide = async <T>(run: Run<T>, listDemands: (chosen: T) => readonly Demand[]): Promise<Choice<T>> => {
    for (let tries = 1; ; tries += 1) {
      const tried = await run(tryTake);
      if (tried.full === undefined || tried.chosen === undefined) return tried;
      // One statement reads one moment, so a counter that it shows as full was full.
      const full = await findFull(sql, listDemands(tried.chosen));
      if (full !== undefined) return { ...tried, full };
      if (dealing === undefined || tries === TRIES_MAX) break;
      await dealing;
    }
    const decided = run(takeExactly);
    const over: Promise<unknown> = Promise.allSettled([decided]).then(() => {
      if (dealing === over) dealing = undefined;
    });
    dealing = over;
    return decided;
  };
  const withPermitsOfAll: WithPermitsOfAll = async ({ works, ...call }, work) => {
    const demands = sumDemands(works);
    const run: Run<readonly Demand[]> = async (take) => ({
      chosen: demands,
      full: await inTransaction(sql, call, async (query) => {
        const permits = choosePermits(works[0]?.id ?? '', demands);
        const [, full] = await Promise.all([work(query, dividePermits(works, permits)), take(query, permits)]);
        return full;
      }),
    });
    return (await decide(run, (chosen) => chosen)).full;
  };
  return {
    withPermitsOfAll,
    withPermits: ({ signal, ...counted }, work) =>
      withPermitsOfAll({ works: [counted], signals: [signal] }, (query, [permits = []]) => work(query, permits)),
    chooseWithPermits: <T extends CountedWork>(
      choose: (query: SqlQuery) => Promise<T | undefined>,
      work: (query: SqlQuery, chosen: T, permits: readonly Permit[]) => Promise<void>,
    ) =>
      decide<T>(
        async (take) => {
          let chosen: T | undefined;
          const full = await inTransaction(sql, {}, async (query) => {
            chosen = await choose(query);
            if (chosen === undefined) return undefined;
            const permits = choosePermits(chosen.id, sumDemands([chosen]));
            const [, fullScope] = await Promise.all([work(query, chosen, permits), take(query, permits)]);
            return fullScope;
          });
          return { chosen, full };
        },
        (chosen) => sumDemands([chosen]),
      ),
  };
}

/** The permits of each task, in the order of its counters. */
function dividePermits(works: readonly CountedWork[], permits: readonly Permit[]): readonly (readonly Permit[])[] {
  if (works.length === 1) return [permits];
  const byScope = new Map(permits.map((permit) => [permit.scope, permit]));
  return works.map(({ caps }) => caps.flatMap(({ scope }) => byScope.get(scope) ?? []));
}

/** Commits the work, or rolls it back if it names a full counter. */
async function inTransaction(
  sql: Sql,
  { signals = [], trace }: Omit<PermitsRequest, 'works'>,
  work: (query: SqlRunner) => Promise<string | undefined>,
): Promise<string | undefined> {
  const assertAwaited = (): void => {
    for (const signal of signals) signal?.throwIfAborted();
  };
  try {
    await sql.transaction(async (query) => {
      // The transaction may have waited for the database and then for a row lock.
      assertAwaited();
      const full = await work(query);
      if (full !== undefined) throw new Full(full);
      assertAwaited();
    }, trace);
    return undefined;
  } catch (error) {
    if (error instanceof Full) return error.scope;
    throw error;
  }
}

/** Returns the number of tasks that a counter counts. */
export async function inFlight(query: SqlQuery, scope: string): Promise<number> {
  return (
    (await selectNumber(query, 'SUM(count - permits)', 'in_flight WHERE scope = $1 OR shard_of = $1', [scope])) ?? 0
  );
}

async function findFull(sql: Sql, demands: readonly Demand[]): Promise<string | undefined> {
  const counts = await Promise.all(demands.map(({ scope }) => inFlight(sql.read, scope)));
  return demands.find(({ limit, count }, index) => (counts[index] ?? 0) + count > limit)?.scope;
}

const TAKEN_COLUMNS = ['row', 'count', 'scope', 'limit'] as const;
/**
 * Takes permits of rows. A counter gives them within its limit. A shard gives its permits only while the permits of all
 * shards are within the limit, which may have been lowered since they were dealt out.
 */
const TAKE = byRows((rows) => {
  const parameter = (row: number, name: (typeof TAKEN_COLUMNS)[number]): string =>
    `$${row * TAKEN_COLUMNS.length + TAKEN_COLUMNS.indexOf(name) + 1}`;
  const indexes = Array.from({ length: rows }, (_, row) => row);
  const values = indexes.map((row) => `(${parameter(row, 'row')}, ${parameter(row, 'count')})`);
  const bounds = indexes.map((row) => {
    const [scope, limit] = [parameter(row, 'scope'), `CAST(${parameter(row, 'limit')} AS BIGINT)`];
    return `WHEN ${parameter(row, 'row')} THEN CASE
      WHEN excluded.scope = ${scope} THEN ${limit}
      WHEN (SELECT whole.count FROM in_flight AS whole WHERE whole.scope = ${scope}) <= ${limit} THEN in_flight.permits
      ELSE 0 END`;
  });
  return `INSERT INTO in_flight (scope, count) VALUES ${values.join(', ')}
    ON CONFLICT (scope) DO UPDATE SET count = in_flight.count + excluded.count
    WHERE in_flight.count + excluded.count <= CASE excluded.scope ${bounds.join(' ')} END
    RETURNING scope, count, permits`;
});

/** Takes all permits from the rows that were chosen for them. */
async function tryTake(query: SqlQuery, permits: readonly Permit[]): Promise<string | undefined> {
  const none = permits.find(({ limit, count }) => limit < count);
  if (none !== undefined) return none.scope;
  const taken = await Promise.all(
    inExactChunks(permits).map((chunk) =>
      query(
        TAKE(chunk.length),
        rowValues([], chunk, (permit) => TAKEN_COLUMNS.map((name) => permit[name])),
      ),
    ),
  );
  const byRow = new Map(taken.flat().map((row) => [text(row['scope']), toShard(row)]));
  return permits.find(({ scope, row, limit }) => {
    const got = byRow.get(row);
    // A row that this statement inserted counts no other task, and a new shard has no permits yet.
    return got === undefined || got.count > (row === scope ? limit : got.permits);
  })?.scope;
}

/** Takes the permits under locks on all rows of each counter. */
async function takeExactly(query: SqlQuery, permits: readonly Permit[]): Promise<string | undefined> {
  for (const permit of permits) {
    if (!(await takeFromAll(query, permit))) return permit.scope;
  }
  return undefined;
}

const LOCK_COUNTER = `INSERT INTO in_flight (scope, count) VALUES ($1, 0)
  ON CONFLICT (scope) DO UPDATE SET count = in_flight.count RETURNING count`;

/** Only the holder of the counter's lock adds shards or changes their permits. */
async function takeFromAll(query: SqlQuery, permit: Permit): Promise<boolean> {
  const [counter] = await query(LOCK_COUNTER, [permit.scope]);
  // Other processes may have more shards, or the limit may have been larger.
  const known = await selectTexts(query, 'scope', 'in_flight WHERE shard_of = $1', [permit.scope]);
  const names = [...new Set([...permit.shards, ...known])].sort();
  const none = names.map((row) => ({ row, count: 0, permits: 0 }));
  const shards = await upsertShards(query, permit.scope, none, 'permits = in_flight.permits');
  const dealt = deal({ count: Number(counter?.['count'] ?? 0), shards }, permit);
  if (dealt === undefined) return false;
  await upsertShards(query, permit.scope, dealt.shards, 'count = excluded.count, permits = excluded.permits');
  await query('UPDATE in_flight SET count = $1 WHERE scope = $2', [dealt.count, permit.scope]);
  return true;
}

async function upsertShards(
  query: SqlQuery,
  scope: string,
  shards: readonly Shard[],
  change: string,
): Promise<readonly Shard[]> {
  if (shards.length === 0) return [];
  const values: SqlValue[] = [scope];
  const rows = shards.map(({ row, count, permits }) => {
    const first = values.push(row, count, permits) - 2;
    return `($${first}, $${first + 1}, $${first + 2}, $1)`;
  });
  const written = await query(
    `INSERT INTO in_flight (scope, count, permits, shard_of) VALUES ${rows.join(', ')}
     ON CONFLICT (scope) DO UPDATE SET ${change} RETURNING scope, count, permits`,
    values,
  );
  return written.map(toShard);
}

function toShard(row: SqlRow): Shard {
  return { row: text(row['scope']), count: Number(row['count']), permits: Number(row['permits']) };
}
