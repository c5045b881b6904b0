import { DatabaseSync } from 'node:sqlite';
import type { StatementSync } from 'node:sqlite';
import { durabilityOf, openLogSync } from './sqlite-log-sync.ts';
import type { Durability, LogSync } from './sqlite-log-sync.ts';
import { runWork } from './transaction.ts';
import type { Sql, SqlRow, SqlValue, SqlWork } from './sql.ts';
import { sqliteFault } from './sqlite-faults.ts';
import { StoreUnavailable } from './store-unavailable.ts';

const BATCH_MAX = 256;
const BUSY_TIMEOUT_MS = 10_000;
const CLOSED = 'the database is closed';
const PARAMETER = /\$(\d+)/g;

interface Job {
  run(): Promise<void>;
  settle(failure: Error | undefined): void;
}

/**
 * SQLite in a file, in WAL mode. The transactions that wait at the same moment share one commit: each runs in a savepoint of its own, one
 * after another; one that is alone needs none. SQLite writes the commit to its log and does not wait for the disk (`synchronous=NORMAL`); the log is synced beside the
 * event loop, one sync for all, while the next transactions gather. None is told that it succeeded before its sync has ended. Reads have a
 * connection of their own, so they never see a transaction that may yet be rolled back, and what they have seen is durable once they tell
 * it. Where a sync fails, nobody knows what the disk has: from then on everything is refused.
 */
export function openSqlite(file: string, openSync: (file: string) => Promise<LogSync> = openLogSync): Sql {
  const writer = open(file);
  const reader = open(file);
  const [onWriter, onReader] = [statements(writer), statements(reader)];
  const durability = durabilityOf(openSync(file));
  const queue: Job[] = [];
  let draining: Promise<void> | undefined;
  let closing: Promise<void> | undefined;

  const drain = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve));
    while (queue.length > 0) {
      const batch = queue.splice(0, BATCH_MAX);
      settleAll(batch, await commitDurably(writer, durability, batch));
    }
    draining = undefined;
  };
  const transaction = <T>(work: (query: SqlWork) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (closing !== undefined) throw new StoreUnavailable(CLOSED);
      let result: T;
      queue.push({
        run: async () => {
          result = await runWork(work, onWriter);
        },
        settle: (failure) => {
          if (failure === undefined) resolve(result);
          else reject(failure);
        },
      });
      draining ??= drain();
    });
  const closeAll = async (): Promise<void> => {
    await draining;
    for (const database of [reader, writer]) database.close();
    await durability.close();
  };

  return {
    engine: 'sqlite',
    skipLocked: '',
    read: async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => {
      if (closing !== undefined) throw new StoreUnavailable(CLOSED);
      const rows = await onReader<R>(text, values).catch(throwFault);
      await durability.last().catch(throwUnsynced(false));
      return rows;
    },
    write: (text, values) => transaction((query) => query(text, values)),
    transaction,
    close: () => (closing ??= closeAll()),
  };
}

function open(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA busy_timeout = ${String(BUSY_TIMEOUT_MS)}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;`,
  );
  // makes the log, where there is none yet
  database.prepare('SELECT count(*) FROM sqlite_schema').all();
  return database;
}

/** Gives each job's own failure, or the one that all share, once the disk has what did not fail. */
async function commitDurably(
  writer: DatabaseSync,
  durability: Durability,
  batch: readonly Job[],
): Promise<readonly (Error | undefined)[]> {
  try {
    await durability.last().catch(throwUnsynced(false));
    const failures = await commitBatch(writer, batch);
    if (failures.includes(undefined)) await durability.sync().catch(throwUnsynced(true));
    return failures;
  } catch (error) {
    return batch.map(() => toError(error));
  }
}

function throwFault(error: unknown): never {
  throw toError(error);
}

/** The disk did not take the log. What was committed before that may be there after the next start. */
function throwUnsynced(maybeWritten: boolean): (error: unknown) => never {
  return (error) => {
    throw new StoreUnavailable(error, { maybeWritten });
  };
}

/** Runs the jobs in one transaction; gives each job's own failure, or the commit's for all. */
async function commitBatch(writer: DatabaseSync, batch: readonly Job[]): Promise<(Error | undefined)[]> {
  try {
    writer.exec('BEGIN IMMEDIATE');
    const failures = await runAll(writer, batch);
    writer.exec('COMMIT');
    return failures;
  } catch (error) {
    if (writer.isTransaction) writer.exec('ROLLBACK');
    return batch.map(() => toError(error));
  }
}

/** Gives each job's own failure. What the only one throws undoes all there is, without a savepoint, which would keep a copy of each page that changes. */
async function runAll(writer: DatabaseSync, batch: readonly Job[]): Promise<(Error | undefined)[]> {
  const [only] = batch;
  if (batch.length === 1 && only !== undefined) {
    await only.run();
    return [undefined];
  }
  const failures: (Error | undefined)[] = [];
  for (const job of batch) failures.push(await runInSavepoint(writer, job));
  return failures;
}

async function runInSavepoint(writer: DatabaseSync, job: Job): Promise<Error | undefined> {
  writer.exec('SAVEPOINT job');
  try {
    await job.run();
    writer.exec('RELEASE job');
    return undefined;
  } catch (error) {
    // a full disk ends the whole transaction, and the savepoints with it
    if (!writer.isTransaction) throw error;
    writer.exec('ROLLBACK TO job; RELEASE job');
    return toError(error);
  }
}

function settleAll(batch: readonly Job[], failures: readonly (Error | undefined)[]): void {
  batch.forEach((job, index) => {
    job.settle(failures[index]);
  });
}

interface Prepared {
  readonly statement: StatementSync;
  /** How many values it takes; SQLite alone would take a missing one for null. */
  readonly parameters: number;
  /** Which value stands at each place, unless they stand in their order; to look places up by name takes as long as the statement itself. */
  readonly places: readonly number[] | undefined;
}

/** Prepared once for each text; the texts are constants of the program, so there are only so many. */
function statements(database: DatabaseSync): SqlWork {
  const known = new Map<string, Prepared>();
  const find = (
    text: string,
    values: readonly SqlValue[],
  ): { readonly statement: StatementSync; readonly bound: readonly SqlValue[] } => {
    let prepared = known.get(text);
    if (prepared === undefined) {
      prepared = prepare(database, text);
      known.set(text, prepared);
    }
    const { statement, parameters, places } = prepared;
    if (values.length !== parameters)
      throw new Error(`the statement takes ${String(parameters)} values and was given ${String(values.length)}`);
    return { statement, bound: places === undefined ? values : placed(values, places) };
  };
  return Object.assign(
    async <R extends SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<R[]> => {
      const { statement, bound } = find(text, values);
      const rows = statement.all(...bound);
      for (const row of rows) narrow(row as Record<string, SqlValue>);
      return rows as R[];
    },
    {
      changes: async (text: string, values: readonly SqlValue[] = []): Promise<number> => {
        const { statement, bound } = find(text, values);
        return Number(statement.run(...bound).changes);
      },
    },
  );
}

function prepare(database: DatabaseSync, text: string): Prepared {
  const statement = database.prepare(text.replace(PARAMETER, '?'));
  statement.setReadBigInts(true);
  const places = [...text.matchAll(PARAMETER)].map(([, number]) => Number(number) - 1);
  const isInOrder = places.every((place, at) => place === at);
  return { statement, places: isInOrder ? undefined : places, parameters: new Set(places).size };
}

function placed(values: readonly SqlValue[], places: readonly number[]): SqlValue[] {
  const out: SqlValue[] = [];
  for (const place of places) out.push(values[place] as SqlValue);
  return out;
}

/** Whole numbers come as numbers where those are exact. */
function narrow(row: Record<string, SqlValue>): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER)
      row[name] = Number(value);
  }
}

/** What was thrown as an error of its own kind: one of SQLite's as StoreUnavailable, where it is no bug. */
function toError(thrown: unknown): Error {
  const fault = sqliteFault(thrown);
  return fault instanceof Error ? fault : new Error(String(fault));
}
