import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { waitForContinuations } from '../batcher.ts';
import { newDurability, openLogSync } from './sqlite-log-sync.ts';
import type { Durability, OpenLogSync } from './sqlite-log-sync.ts';
import { runForRows, runStatements, runWork } from './transaction.ts';
import type { CommitResult, Sql, SqlRow, SqlRunner, SqlValue, SqlWork } from './sql.ts';
import { StoreUnavailable } from './sql.ts';
import { sqliteStatements } from './sqlite-statements.ts';
import { sqliteFault } from './sqlite-faults.ts';

const OWNER_ONLY = 0o600;
const BATCH_MAX = 256;
/** The maximum number of ticks of the event loop that a batch waits for more jobs. */
const TURNS_MAX = 16;
/** The turns without a job after which a busy program commits. A request that is sent on takes some turns to come. */
const QUIET_TURNS = 5;
const BUSY_TIMEOUT_MS = 10_000;
/**
 * A commit writes each page that it changes, most of them for one entry at the end of an index. Rows of a kilobyte fill
 * this page as well as a page of 4096. An existing file keeps its size.
 */
const PAGE_BYTES = 2048;
/** The log is copied into the database at this length: pages that are changed again and again are copied rarely. */
const LOG_BYTES_MAX = 16 * 1024 ** 2;
const CLOSED = 'the database is closed';
const ENDED = 'the transaction has ended before this statement';
const IDLE = { inUse: 0, idle: 1, waiting: 0, waitedMs: 0 };

/** Overwrites deleted rows, also in unused pages. */
const ERASE = 'PRAGMA secure_delete = ON';

/** The end of a job for its caller: the disk has it, it is committed ahead of the disk, or it needs no sync. */
type Wait = 'disk' | 'commit ahead' | 'commit';

interface Job {
  readonly wait: Wait;
  run(): Promise<void>;
  /** Called when the commit has succeeded, before its sync has ended. */
  committed(): void;
  settle(failure: Error | undefined): void;
}

/**
 * Opens SQLite in a file, in WAL mode. Transactions that wait at the same moment share one commit and run one after
 * another. If one of them fails, all run again, each in a savepoint of its own. SQLite writes the commit to its log and
 * does not wait for the disk (`synchronous=NORMAL`). One sync outside the event loop covers the whole batch, while the
 * next batch fills. A transaction succeeds only after its sync has ended. `commitAhead` does not wait for it. A batch
 * of `commitUnsynced` alone has no sync: it runs during the sync before it, and is committed when that has ended. Reads
 * use another connection, so they never see a transaction that can still be rolled back, and they wait for the last
 * sync. After a failed sync the content of the disk is unknown, so every later statement is refused. Savepoints keep
 * their copies of pages in memory, because SQLite would write the copies of a large batch to a temporary file.
 */
export function openSqlite(file: string, openLog: OpenLogSync = openLogSync): Sql {
  makePrivate(file);
  const writer = open(file);
  const reader = open(file);
  const [onWriter, onReader] = [refuseAfterEnd(writer, sqliteStatements(writer)), sqliteStatements(reader)];
  const durability = newDurability(openLog(file));
  const early = newEarlyJobs(writer, durability);
  const queue: Job[] = [];
  let draining: Promise<void> | undefined;
  let isBusy = false;
  let closing: Promise<void> | undefined;
  let emptying: Promise<boolean> | undefined;

  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      await waitForJobs(queue, isBusy);
      const batch = queue.splice(0, BATCH_MAX);
      isBusy = batch.length > 1;
      settleAll(batch, await commitDurably({ writer, durability, early }, batch));
      queue.unshift(...(await early.end()));
    }
    draining = undefined;
  };
  const commit = async <T>(work: (query: SqlWork) => Promise<T>, wait: Wait): Promise<CommitResult<T>> => {
    if (closing !== undefined) throw new StoreUnavailable(CLOSED);
    const { job, committed } = newJob(() => runWork(work, onWriter), wait);
    // the jobs that wait came first
    if (wait === 'commit' && queue.length === 0 && early.take(job)) return committed;
    queue.push(job);
    draining ??= drain();
    return committed;
  };
  const transaction = async <T>(work: (query: SqlWork) => Promise<T>): Promise<T> => {
    const { result, durable } = await commit(work, 'disk');
    await durable;
    return result;
  };
  const closeAll = async (): Promise<void> => {
    await draining;
    await emptying?.catch(() => undefined);
    for (const database of [reader, writer]) database.close();
    await durability.close();
  };

  const alone: Sql['reserved'] = {
    read: async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => {
      if (closing !== undefined) throw new StoreUnavailable(CLOSED);
      const rows = await onReader<R>(text, values).catch(throwFault);
      await durability.last().catch(throwUnsynced(false));
      return rows;
    },
    write: (text, values) => transaction((query) => query(text, values)),
  };
  return {
    engine: 'sqlite',
    skipLocked: '',
    forUpdate: '',
    ...alone,
    reserved: alone,
    transaction,
    writeAll: (statements) => transaction((query) => runForRows(query, statements)),
    changeAll: (statements) => transaction((query) => runStatements(query, statements)),
    commitAhead: (work) => commit(work, 'commit ahead'),
    commitUnsynced: async (work) => (await commit(work, 'commit')).result,
    emptyLog: async () => {
      if (closing !== undefined) throw new StoreUnavailable(CLOSED);
      emptying ??= durability.empty().finally(() => {
        emptying = undefined;
      });
      return emptying;
    },
    pool: () => (draining === undefined ? IDLE : { ...IDLE, inUse: 1, idle: 0, waiting: queue.length }),
    close: () => (closing ??= closeAll()),
  };
}

/**
 * Refuses a statement after its transaction has ended. A full disk ends a transaction in the middle, and SQLite would
 * commit each later statement of the work on its own.
 */
function refuseAfterEnd(writer: DatabaseSync, query: SqlRunner): SqlRunner {
  const assertTransaction = (): void => {
    if (!writer.isTransaction) throw new StoreUnavailable(ENDED);
  };
  return Object.assign(
    async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => {
      assertTransaction();
      return query<R>(text, values);
    },
    {
      changes: async (text: string, values?: readonly SqlValue[]) => {
        assertTransaction();
        return query.changes(text, values);
      },
    },
  );
}

/**
 * Waits for this tick of the event loop to end, so that work that arrives in it shares the commit. A program is busy if
 * its last batch had several jobs. It waits for further ticks, because the jobs of a larger batch write the same pages.
 * A job of `commitAhead` does not wait: the disk writes it while the next one runs. A job without a sync waits for one
 * tick, so that two connections of a process never begin in the same one.
 */
async function waitForJobs(queue: readonly Job[], isBusy: boolean): Promise<void> {
  if (queue.some(({ wait }) => wait === 'commit ahead')) return waitForContinuations();
  const quietMax = isBusy || queue.length > 1 ? QUIET_TURNS : 1;
  for (let turns = 0, quiet = 0; turns < TURNS_MAX && quiet < quietMax && queue.length < BATCH_MAX; turns += 1) {
    const known = queue.length;
    await new Promise((resolve) => setImmediate(resolve));
    if (queue.some(({ wait }) => wait !== 'disk')) return;
    quiet = queue.length > known ? 0 : quiet + 1;
  }
}

/** Wraps work in a job, with the promise for its caller. */
function newJob<T>(
  work: () => Promise<T>,
  wait: Wait,
): { readonly job: Job; readonly committed: Promise<CommitResult<T>> } {
  const [committed, durable] = [Promise.withResolvers<CommitResult<T>>(), Promise.withResolvers<undefined>()];
  // a caller that got the failure of the commit does not wait for the sync
  durable.promise.catch(() => undefined);
  let result: T;
  const job: Job = {
    wait,
    run: async () => {
      result = await work();
    },
    committed: () => committed.resolve({ result, durable: durable.promise }),
    settle: (failure) => {
      if (failure === undefined) {
        durable.resolve(undefined);
        return;
      }
      committed.reject(failure);
      durable.reject(failure);
    },
  };
  return { job, committed: committed.promise };
}

/**
 * Restricts the mode of the database, which SQLite gives to its log and its index too. An existing file is not opened,
 * because that would release its locks.
 */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function open(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  database.exec(
    `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL;
     PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;
     ${ERASE};`,
  );
  const found = database.prepare('PRAGMA page_size').get() as { readonly page_size: number };
  database.exec(`PRAGMA wal_autocheckpoint = ${Math.floor(LOG_BYTES_MAX / found.page_size)}`);
  // creates the log if it does not exist
  database.prepare('SELECT count(*) FROM sqlite_schema').all();
  return database;
}

/** Jobs without a sync that run while the disk writes the commit before them. */
interface EarlyJobs {
  /** Begins to take jobs. */
  open(): void;
  /** Runs a job. Returns false if it has to wait. */
  take(job: Job): boolean;
  /** Commits the jobs, if the disk has the commit before them. Gives those that have to run again: not all succeeded. */
  end(): Promise<readonly Job[]>;
}

/** The transaction is open from the first job on. No other begins before its end. */
function newEarlyJobs(writer: DatabaseSync, durability: Durability): EarlyJobs {
  const jobs: Job[] = [];
  let isOpen = false;
  let work = Promise.resolve();
  const begin = async (): Promise<void> => {
    writer.exec('BEGIN IMMEDIATE');
  };
  return {
    open: () => {
      isOpen = true;
    },
    take: (job) => {
      if (!isOpen || jobs.length === BATCH_MAX) return false;
      const before = jobs.length === 0 ? begin() : work;
      jobs.push(job);
      work = before.then(() => job.run());
      work.catch(() => undefined);
      return true;
    },
    end: async () => {
      isOpen = false;
      const taken = jobs.splice(0);
      if (taken.length === 0) return taken;
      try {
        await work;
        await durability.last();
        writer.exec('COMMIT');
      } catch {
        if (writer.isTransaction) writer.exec('ROLLBACK');
        return taken;
      }
      for (const job of taken) job.committed();
      settleAll(
        taken,
        taken.map(() => undefined),
      );
      return [];
    },
  };
}

interface CommitDeps {
  readonly writer: DatabaseSync;
  readonly durability: Durability;
  readonly early: EarlyJobs;
}

/** Commits and syncs the batch. Gives the error of each job, or one error for all. */
async function commitDurably(
  { writer, durability, early }: CommitDeps,
  batch: readonly Job[],
): Promise<readonly (Error | undefined)[]> {
  try {
    await durability.last().catch(throwUnsynced(false));
    const failures = await commitBatch(writer, batch);
    const committed = batch.filter((_job, index) => failures[index] === undefined);
    const synced = committed.some(({ wait }) => wait !== 'commit') ? durability.sync() : undefined;
    if (synced !== undefined) early.open();
    for (const job of committed) job.committed();
    await synced?.catch(throwUnsynced(true));
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
 * Runs a batch and returns the error of each job. Savepoints copy each changed page, and jobs rarely fail, so the jobs
 * run without them first. If one fails, all are rolled back and run again, each in a savepoint, because the work of a
 * transaction changes only the database. The error of a single job rolls back everything.
 */
async function runAll(writer: DatabaseSync, batch: readonly Job[]): Promise<(Error | undefined)[]> {
  try {
    for (const job of batch) await job.run();
    return batch.map(() => undefined);
  } catch (error) {
    // a full disk ends the transaction
    if (batch.length === 1 || !writer.isTransaction) throw error;
  }
  writer.exec('ROLLBACK; BEGIN IMMEDIATE');
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
  batch.forEach((job, index) => job.settle(failures[index]));
}

/** The thrown value as an Error. A temporary error of SQLite becomes StoreUnavailable. */
function toError(thrown: unknown): Error {
  const fault = sqliteFault(thrown);
  return fault instanceof Error ? fault : new Error(String(fault));
}
