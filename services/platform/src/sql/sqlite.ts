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
 * SQLite in a file, in WAL mode. Transactions that wait at the same moment share one commit: each runs in a savepoint
 * of its own, one after another. A single transaction needs no savepoint. SQLite writes the commit to its log and does
 * not wait for the disk (`synchronous=NORMAL`). One sync outside the event loop covers the whole batch, while the next
 * batch fills. A transaction succeeds only after its sync has ended. Reads use another connection, so they never see a
 * transaction that can still be rolled back, and they answer only what is durable. After a failed sync the content of
 * the disk is unknown, so every later statement is refused.
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
    `PRAGMA busy_timeout = ${String(BUSY_TIMEOUT_MS)}; PRAGMA journal_mode = WAL;
     PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;`,
  );
  // creates the log if it does not exist
  database.prepare('SELECT count(*) FROM sqlite_schema').all();
  return database;
}

/** Commits and syncs the batch. Gives the error of each job, or one error for all. */
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

/** The sync of the log failed. The commits before it may exist after the next start. */
function throwUnsynced(maybeWritten: boolean): (error: unknown) => never {
  return (error) => {
    throw new StoreUnavailable(error, { maybeWritten });
  };
}

/** Runs the jobs in one transaction. Gives the error of each job, or the commit's error for all. */
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

/**
 * Gives the error of each job. A single job runs without a savepoint, which would copy each changed page; its error
 * rolls back everything.
 */
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
    // a full disk ends the whole transaction, including its savepoints
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
  /** The number of values that it takes. SQLite itself would treat a missing value as null. */
  readonly parameters: number;
  /**
   * The index of the value for each parameter; undefined: they are in order. Binding by name takes as long as the
   * statement itself.
   */
  readonly valueIndexes: readonly number[] | undefined;
}

/** Prepares each text once. The texts are constants of the program, so their number is bounded. */
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
    const { statement, parameters, valueIndexes } = prepared;
    if (values.length !== parameters)
      throw new Error(`the statement takes ${String(parameters)} values, but ${String(values.length)} were given`);
    return { statement, bound: valueIndexes === undefined ? values : inOrder(values, valueIndexes) };
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
  const indexes = [...text.matchAll(PARAMETER)].map(([, number]) => Number(number) - 1);
  const isInOrder = indexes.every((index, position) => index === position);
  return { statement, valueIndexes: isInOrder ? undefined : indexes, parameters: new Set(indexes).size };
}

function inOrder(values: readonly SqlValue[], indexes: readonly number[]): SqlValue[] {
  const out: SqlValue[] = [];
  for (const index of indexes) out.push(values[index] as SqlValue);
  return out;
}

/** Converts bigint to number where that is exact. */
function narrow(row: Record<string, SqlValue>): void {
  for (const name in row) {
    const value = row[name];
    if (typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER)
      row[name] = Number(value);
  }
}

/** The thrown value as an Error. A temporary error of SQLite becomes StoreUnavailable. */
function toError(thrown: unknown): Error {
  const fault = sqliteFault(thrown);
  return fault instanceof Error ? fault : new Error(String(fault));
}
