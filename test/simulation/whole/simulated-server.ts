import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { ServiceSchema } from '@reelgate/platform/sql/store-settings';
import { runForRows, runStatements, runWork } from '@reelgate/platform/sql/transaction';
import { sqliteStatements } from '@reelgate/platform/sql/sqlite-statements';
import type { Sql, SqlRow, SqlRunner, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import type { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

const TRIP_MS_MAX = 2;
/** Of the statements of a transaction, this part waits for its answer while other things happen. */
const SLOW_STATEMENTS = 0.15;
/** Of the commits, this part has an answer that is lost: the commit took place, or it did not. */
const LOST_COMMITS = 0.004;
const POOL = { inUse: 0, idle: 1, waiting: 0, waitedMs: 0 };

/**
 * A database server that several processes share, with a database for each service. One transaction runs at a time, so
 * it shows less than PostgreSQL where two change the same rows at one moment; the suites of the stores cover that.
 */
export interface SimulatedServer {
  /** The folder of its files, for readers beside the program. */
  readonly folder: string;
  /** Makes the database of a service, with its tables. */
  prepare(schema: ServiceSchema): Promise<void>;
  /** The database of a service, as one process sees it, whose release has its own class of errors. */
  connect(name: string, process: SimulatedProcess, Unavailable: typeof StoreUnavailable): Sql;
  /** The process has died: its open transactions are rolled back. */
  drop(process: SimulatedProcess): void;
  /** The server is away for a time. What is under way fails. */
  goAway(ms: number): void;
  close(): void;
}

export interface ServerOptions {
  readonly scheduler: Scheduler;
  readonly draws: Draws;
  readonly faults: Faults;
  readonly folder: string;
  readonly log: (text: string) => void;
}

/** A transaction that has, or waits for, the only place to write. */
interface Session {
  readonly process: SimulatedProcess;
  isOver: boolean;
  readonly begin: () => void;
  /** Fails the statements that come later. */
  readonly end: () => void;
}

/** A process at the server. */
interface Connected {
  readonly process: SimulatedProcess;
  readonly Unavailable: typeof StoreUnavailable;
}

interface Database {
  readonly writer: DatabaseSync;
  readonly reader: DatabaseSync;
  readonly onWriter: SqlRunner;
  readonly onReader: SqlRunner;
  readonly queue: Session[];
}

/** The product opens its stores by other ways, whose statements the simulated disk watches. */
const { exec, close } = DatabaseSync.prototype;

export function openSimulatedServer({ scheduler, draws, faults, folder, log }: ServerOptions): SimulatedServer {
  const databases = new Map<string, Database>();
  let awayUntil = 0;
  mkdirSync(folder);

  const find = (name: string): Database => {
    const known = databases.get(name);
    if (known !== undefined) return known;
    const [writer, reader] = [
      openFile(path.join(folder, `${name}.sqlite`)),
      openFile(path.join(folder, `${name}.sqlite`)),
    ];
    const [onWriter, onReader] = [sqliteStatements(writer), sqliteStatements(reader)];
    const database = { writer, reader, onWriter, onReader, queue: [] };
    databases.set(name, database);
    return database;
  };
  const tripMs = (): number => draws.whole(scheduler.nameChoice('server trip'), 1, TRIP_MS_MAX);
  const isAway = (): boolean => scheduler.now() < awayUntil;
  const leave = ({ writer, queue }: Database, session: Session, statement: 'COMMIT' | 'ROLLBACK'): void => {
    if (session.isOver) return;
    session.isOver = true;
    if (queue[0] === session) {
      exec.call(writer, statement);
      queue.shift();
      queue[0]?.begin();
      return;
    }
    queue.splice(queue.indexOf(session), 1);
  };
  /** One message to the server and its answer. Messages of one connection keep their order. */
  const openTrips = ({ process, Unavailable }: Connected) => {
    let [there, back] = [0, 0];
    return <T>(run: () => Promise<T>): Promise<T> => {
      there = Math.max(there, scheduler.now() + tripMs());
      return new Promise((resolve, reject) => {
        const answer = (end: () => void): void => {
          back = Math.max(back, scheduler.now() + tripMs());
          scheduler.after(back - scheduler.now(), process, end);
        };
        scheduler.after(there - scheduler.now(), scheduler.world, () => {
          // its connections are gone
          if (!process.isAlive) return;
          const running = isAway() ? Promise.reject(new Unavailable('the server is away')) : run();
          running.then(
            (value) => {
              answer(() => {
                resolve(value);
              });
            },
            (error: unknown) => {
              answer(() => {
                reject(error instanceof Error ? error : new Error(String(error)));
              });
            },
          );
        });
      });
    };
  };
  /**
   * A message whose answer can only be lost with its process, and whose work is then undone or is none. It is one event
   * in place of two.
   */
  const openShortTrips = ({ process, Unavailable }: Connected) => {
    let back = 0;
    return <T>(run: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        back = Math.max(back, scheduler.now() + tripMs());
        scheduler.after(back - scheduler.now(), process, () => {
          const running = isAway() ? Promise.reject(new Unavailable('the server is away')) : run();
          running.then(resolve, reject);
        });
      });
  };
  const enter = (database: Database, { process, Unavailable }: Connected): Promise<Session> =>
    new Promise((resolve, reject) => {
      const session: Session = {
        process,
        isOver: false,
        begin: () => {
          exec.call(database.writer, 'BEGIN IMMEDIATE');
          resolve(session);
        },
        end: () => {
          reject(new Unavailable('the server is away'));
        },
      };
      database.queue.push(session);
      if (database.queue.length === 1) session.begin();
    });
  const commit = async (database: Database, session: Session, { Unavailable }: Connected): Promise<void> => {
    if (session.isOver) throw new Unavailable('the connection to the server is gone', { maybeWritten: false });
    const name = scheduler.nameChoice('server commit');
    const isLost = faults.happens('lost commit', name, LOST_COMMITS);
    const isDone = !isLost || draws.happens(`${name} done`, 0.5);
    leave(database, session, isDone ? 'COMMIT' : 'ROLLBACK');
    if (!isLost) return;
    log(`the answer to a commit of ${session.process.name} is lost: ${isDone ? 'it is done' : 'it is undone'}`);
    throw new Unavailable('the answer to a commit is lost', { maybeWritten: true });
  };
  const connect: SimulatedServer['connect'] = (name, process, Unavailable) => {
    const connected: Connected = { process, Unavailable };
    const database = find(name);
    const transaction = async <T>(work: (query: SqlWork) => Promise<T>): Promise<T> => {
      const [send, sendShort] = [openTrips(connected), openShortTrips(connected)];
      const session = await sendShort(() => enter(database, connected));
      // Between two statements nothing else runs on the server, so only some of them take time.
      let slow = 0;
      const onServer = <R>(run: () => Promise<R>): Promise<R> => {
        const runIfConnected = async (): Promise<R> => {
          if (session.isOver) throw new Unavailable('the connection to the server is gone');
          return run();
        };
        // statements of one connection keep their order
        if (slow === 0 && !draws.happens(scheduler.nameChoice('server statement'), SLOW_STATEMENTS))
          return runIfConnected();
        slow += 1;
        return sendShort(runIfConnected).finally(() => {
          slow -= 1;
        });
      };
      const query: SqlRunner = Object.assign(
        <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
          onServer(() => database.onWriter<R>(text, values)),
        {
          changes: (text: string, values?: readonly SqlValue[]) =>
            onServer(() => database.onWriter.changes(text, values)),
        },
      );
      try {
        const result = await runWork(work, query);
        await send(() => commit(database, session, connected));
        return result;
      } catch (error) {
        await sendShort(async () => {
          leave(database, session, 'ROLLBACK');
        }).catch(() => undefined);
        throw error;
      }
    };
    /** One message that is a transaction by itself. */
    const runAtOnce = <T>(run: (query: SqlRunner) => Promise<T>): Promise<T> =>
      openTrips(connected)(async () => {
        const session = await enter(database, connected);
        try {
          const result = await run(database.onWriter);
          await commit(database, session, connected);
          return result;
        } catch (error) {
          leave(database, session, 'ROLLBACK');
          throw error;
        }
      });
    const alone: Sql['reserved'] = {
      read: (text, values) => openShortTrips(connected)(() => database.onReader(text, values)),
      write: (text, values) => runAtOnce((query) => query(text, values)),
    };
    return {
      engine: 'postgres',
      skipLocked: '',
      forUpdate: '',
      ...alone,
      reserved: alone,
      transaction,
      writeAll: (statements) => runAtOnce((query) => runForRows(query, statements)),
      changeAll: (statements) => runAtOnce((query) => runStatements(query, statements)),
      commitAhead: async (work) => ({ result: await transaction(work), durable: undefined }),
      commitUnsynced: transaction,
      emptyLog: async () => true,
      pool: () => POOL,
      close: async () => undefined,
    };
  };
  const drop = (isGone: (session: Session) => boolean): void => {
    for (const database of databases.values())
      for (const session of database.queue.filter(isGone)) {
        leave(database, session, 'ROLLBACK');
        session.end();
      }
  };
  return {
    folder,
    prepare: async ({ name, migrations }) => {
      const { writer, onWriter } = find(name);
      await migrate(
        {
          engine: 'sqlite',
          transaction: async (work) => {
            exec.call(writer, 'BEGIN IMMEDIATE');
            const result = await runWork(work, onWriter);
            exec.call(writer, 'COMMIT');
            return result;
          },
        },
        migrations,
      );
    },
    connect,
    drop: (process) => {
      drop((session) => session.process === process);
    },
    goAway: (ms) => {
      awayUntil = scheduler.now() + ms;
      log(`the server is away for ${ms} ms`);
      drop(() => true);
    },
    close: () => {
      for (const { writer, reader } of databases.values()) for (const one of [reader, writer]) close.call(one);
      databases.clear();
      rmSync(folder, { recursive: true });
    },
  };
}

function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  exec.call(database, 'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;');
  return database;
}
