import type { Sql, SqlQuery, SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import { whileAwaited } from '@reelgate/platform/sql/transaction';
import { SHARDS_MAX, deal, permitChooser } from './counter-shards.ts';
import type { Cap, Shard, Permit } from './counter-shards.ts';
import { text } from '../columns.ts';

/*
 * The counters of tasks in flight. A transaction takes its permits last, in one statement, because others wait for
 * these rows until it is committed. Rows are locked in one order: the token's before those of all tokens, a counter's
 * before its shards. So transactions never wait for each other in a circle. INSERT takes its rows in the order of their
 * values; UPDATE does not.
 */

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** The carrier of the task; absent: it is not recorded. */
  readonly trace?: string | undefined;
}

/** The task or job that is counted, and its counters. */
export interface CountedWork {
  readonly id: string;
  readonly caps: readonly Cap[];
}

interface PermitRequest extends CallOptions, CountedWork {}

/**
 * Runs the work and takes a permit of each counter in the same transaction. Returns the counter that is full; then
 * nothing is written.
 */
export type WithPermits = (
  counted: PermitRequest,
  work: (query: SqlQuery, permits: readonly Permit[]) => Promise<void>,
) => Promise<string | undefined>;

/** The work that a transaction has chosen, and the counter that is full; then nothing is written. */
interface Choice<T> {
  readonly chosen: T | undefined;
  readonly full: string | undefined;
}

/** The same for a task that the transaction itself chooses; undefined: none, and the transaction is committed. */
export type ChooseWithPermits = <T extends CountedWork>(
  choose: (query: SqlQuery) => Promise<T | undefined>,
  work: (query: SqlQuery, chosen: T, permits: readonly Permit[]) => Promise<void>,
) => Promise<Choice<T>>;

export interface Permits {
  readonly withPermits: WithPermits;
  readonly chooseWithPermits: ChooseWithPermits;
}

/** Takes the permits, or returns the counter that has none. */
type Take = (query: SqlQuery, permits: readonly Permit[]) => Promise<string | undefined>;

/** Rolls a transaction back whose counter is full. */
class Full extends Error {
  readonly scope: string;

  constructor(scope: string) {
    super(`${scope} is full`);
    this.scope = scope;
  }
}

/** SQLite has one writer at a time, so shards would spread nothing. */
export function shardsOn({ engine }: Sql): number {
  return engine === 'sqlite' ? 1 : SHARDS_MAX;
}

/** Tries before a create decides by itself, even if another one of this process is dealing permits out. */
const TRIES_MAX = 4;

/**
 * First each permit is taken from one row. If a row has none, another row may have: then the transaction runs again,
 * and decides under locks on all rows of the counters, where it deals permits out to the shards. Of the creates of a
 * process one does that at a time, and the others use what it dealt out.
 */
export function sqlPermits(sql: Sql, shardsMax: number): Permits {
  const choosePermits = permitChooser(shardsMax);
  let dealing: Promise<unknown> | undefined;
  const decide = async <T extends CountedWork>(run: (take: Take) => Promise<Choice<T>>): Promise<Choice<T>> => {
    for (let tries = 1; ; tries += 1) {
      const tried = await run(tryTake);
      if (tried.full === undefined || tried.chosen === undefined) return tried;
      // One statement reads one moment, so a counter that it shows as full was full.
      const full = await findFull(sql, tried.chosen.caps);
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
  return {
    withPermits: async ({ id, caps, ...call }, work) => {
      const chosen = { id, caps };
      const run = async (take: Take): Promise<Choice<CountedWork>> => ({
        chosen,
        full: await inTransaction(sql, call, async (query) => {
          const permits = choosePermits(id, caps);
          const [, full] = await Promise.all([work(query, permits), take(query, permits)]);
          return full;
        }),
      });
      return (await decide(run)).full;
    },
    chooseWithPermits: <T extends CountedWork>(
      choose: (query: SqlQuery) => Promise<T | undefined>,
      work: (query: SqlQuery, chosen: T, permits: readonly Permit[]) => Promise<void>,
    ) =>
      decide<T>(async (take) => {
        let chosen: T | undefined;
        const full = await inTransaction(sql, {}, async (query) => {
          chosen = await choose(query);
          if (chosen === undefined) return undefined;
          const permits = choosePermits(chosen.id, chosen.caps);
          const [, fullScope] = await Promise.all([work(query, chosen, permits), take(query, permits)]);
          return fullScope;
        });
        return { chosen, full };
      }),
  };
}

/** Commits the work, or rolls it back if it names a full counter. */
async function inTransaction(
  sql: Sql,
  { signal, trace }: CallOptions,
  work: (query: SqlQuery) => Promise<string | undefined>,
): Promise<string | undefined> {
  try {
    await sql.transaction(
      (query) =>
        whileAwaited(signal, async () => {
          const full = await work(query);
          if (full !== undefined) throw new Full(full);
        }),
      trace,
    );
    return undefined;
  } catch (error) {
    if (error instanceof Full) return error.scope;
    throw error;
  }
}

/** Returns the number of tasks that a counter counts. */
export async function inFlight(query: SqlQuery, scope: string): Promise<number> {
  const [row] = await query('SELECT SUM(count - permits) AS count FROM in_flight WHERE scope = $1 OR shard_of = $1', [
    scope,
  ]);
  return Number(row?.['count'] ?? 0);
}

async function findFull(sql: Sql, caps: readonly Cap[]): Promise<string | undefined> {
  const counts = await Promise.all(caps.map(({ scope }) => inFlight(sql.read, scope)));
  return caps.find(({ limit }, index) => (counts[index] ?? 0) >= limit)?.scope;
}

/**
 * Takes each permit from the row that was chosen for it. A shard gives its permits only while the permits of all shards
 * are within the limit, which may have been lowered since they were dealt out.
 */
async function tryTake(query: SqlQuery, permits: readonly Permit[]): Promise<string | undefined> {
  const none = permits.find(({ limit }) => limit <= 0);
  if (none !== undefined || permits.length === 0) return none?.scope;
  const values: SqlValue[] = [];
  const parameter = (value: SqlValue): string => `$${values.push(value)}`;
  const rows = permits.map(({ row }) => parameter(row));
  const bounds = permits.map(({ scope, row, limit }, index) => {
    const most = `CAST(${parameter(limit)} AS BIGINT)`;
    return row === scope
      ? `WHEN ${rows[index] ?? ''} THEN ${most}`
      : `WHEN ${rows[index] ?? ''} THEN CASE WHEN
           (SELECT whole.count FROM in_flight AS whole WHERE whole.scope = ${parameter(scope)}) <= ${most}
         THEN in_flight.permits ELSE 0 END`;
  });
  const taken = await query(
    `INSERT INTO in_flight (scope, count) VALUES ${rows.map((row) => `(${row}, 1)`).join(', ')}
     ON CONFLICT (scope) DO UPDATE SET count = in_flight.count + 1
     WHERE in_flight.count < CASE excluded.scope ${bounds.join(' ')} END RETURNING scope, count, permits`,
    values,
  );
  const byRow = new Map(taken.map((row) => [text(row['scope']), toShard(row)]));
  return permits.find(({ scope, row }) => {
    const got = byRow.get(row);
    // A shard that this statement made has no permits yet.
    return got === undefined || (row !== scope && got.count > got.permits);
  })?.scope;
}

/** Takes each permit under locks on all rows of its counter. */
async function takeExactly(query: SqlQuery, permits: readonly Permit[]): Promise<string | undefined> {
  for (const permit of permits) {
    if (!(await takeFromAll(query, permit))) return permit.scope;
  }
  return undefined;
}

const LOCK_COUNTER = `INSERT INTO in_flight (scope, count) VALUES ($1, 0)
  ON CONFLICT (scope) DO UPDATE SET count = in_flight.count RETURNING count`;

/** Only who has locked the counter makes shards or changes their permits. */
async function takeFromAll(query: SqlQuery, permit: Permit): Promise<boolean> {
  const [counter] = await query(LOCK_COUNTER, [permit.scope]);
  // Other processes may have more shards, or the limit may have been larger.
  const known = await query('SELECT scope FROM in_flight WHERE shard_of = $1', [permit.scope]);
  const names = [...new Set([...permit.shards, ...known.map((row) => text(row['scope']))])].sort();
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
