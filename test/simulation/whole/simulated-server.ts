import { mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { ServiceSchema } from '@reelgate/platform/sql/store-settings';
import { runWork } from '@reelgate/platform/sql/transaction';
import type { StoreUnavailable } from '@reelgate/platform/sql/sql';
import type { Sql, SqlRow, SqlRunner, SqlStatement, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';
import { openServerDatabase } from './server-database.ts';
import type { ServerDatabase, ServerTransaction } from './server-database.ts';
import { copyStores } from './store-files.ts';
import { openServerMeetings } from './server-meetings.ts';
import { openTrips } from './server-trips.ts';
import type { Connected, ShortTrips } from './server-trips.ts';

/** Of the statements of a transaction, this part waits for its answer while other things happen. */
const SLOW_STATEMENTS = 0.15;
/** Of the slow statements, a part is on its way for longer, so that other transactions come in between. */
const STALLS = [0.02, 0.2, 0.5] as const;
const STALLS_MS_MAX = [20, 100, 500] as const;
/**
 * Of the statements of a transaction, a part waits until another process sends the same one. Without that, two seldom
 * touch the same rows at one moment.
 */
const MEETINGS = [0, 0.03, 0.15] as const;
const MEETING_MS = { least: 50, most: 1500 };
/** Of the commits, this part has an answer that is lost: the commit took place, or it did not. */
const LOST_COMMITS = 0.004;
const POOL = { inUse: 0, idle: 1, waiting: 0, waitedMs: 0 };

/**
 * A database server that several processes share, with a database for each service. Transactions are open at the same
 * time, and wait for the locks of one another as in PostgreSQL.
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
  /** The files of a folder are put in the place of all databases. No process may be connected. */
  restore(from: string): Promise<void>;
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

interface Session {
  readonly process: SimulatedProcess;
  readonly transaction: ServerTransaction;
}

interface Database {
  readonly rows: ServerDatabase;
  readonly sessions: Set<Session>;
}

export function openSimulatedServer({ scheduler, draws, faults, folder, log }: ServerOptions): SimulatedServer {
  const databases = new Map<string, Database>();
  const prepared: ServiceSchema[] = [];
  // in a seed without faults, bounds on time hold
  const stalls = {
    part: faults.isCalm ? STALLS[0] : draws.pick('server stalls', STALLS),
    msMax: faults.isCalm ? STALLS_MS_MAX[0] : draws.pick('server stalls of', STALLS_MS_MAX),
    meetings: faults.isCalm ? 0 : draws.pick('server meetings', MEETINGS),
  };
  let awayUntil = 0;
  mkdirSync(folder);

  const isAway = (): boolean => scheduler.now() < awayUntil;
  const meetings = openServerMeetings(scheduler);
  const trips = openTrips({ scheduler, draws, isAway });
  const find = (name: string): Database => {
    const known = databases.get(name);
    if (known !== undefined) return known;
    const rows = openServerDatabase({
      file: path.join(folder, `${name}.sqlite`),
      now: scheduler.now,
      after: (ms, run) => scheduler.after(ms, scheduler.world, run),
      log: (text) => {
        log(`${name}: ${text}`);
      },
    });
    const database = { rows, sessions: new Set<Session>() };
    databases.set(name, database);
    return database;
  };
  const begin = ({ rows, sessions }: Database, process: SimulatedProcess): Session => {
    const session = { process, transaction: rows.begin() };
    sessions.add(session);
    return session;
  };
  const rollback = ({ sessions }: Database, session: Session): void => {
    sessions.delete(session);
    session.transaction.rollback();
  };
  const commit = (database: Database, session: Session, { Unavailable }: Connected): void => {
    if (session.transaction.isOver()) throw new Unavailable('the connection to the server is gone');
    const name = scheduler.nameChoice('server commit');
    const isLost = faults.happens('lost commit', name, LOST_COMMITS);
    const isDone = !isLost || draws.happens(`${name} done`, 0.5);
    if (isDone && !session.transaction.commit()) throw new Unavailable('the connection to the server is gone');
    rollback(database, session);
    if (!isLost) return;
    log(`the answer to a commit of ${session.process.name} is lost: ${isDone ? 'it is done' : 'it is undone'}`);
    throw new Unavailable('the answer to a commit is lost', { maybeWritten: true });
  };
  /** Some statements take time, so that other transactions come in between. Those of one connection keep their order. */
  const openSlowTrips = (trip: ShortTrips, process: SimulatedProcess) => {
    let slow = 0;
    let meeting: Promise<void> | undefined;
    const runAfterMeeting = async <R>(run: () => Promise<R>): Promise<R> => {
      await meeting;
      return run();
    };
    const onServer = <R>(text: string, run: () => Promise<R>): Promise<R> => {
      const name = scheduler.nameChoice('server statement');
      const hasMet = meetings.meet(text, process);
      if (slow === 0 && !hasMet && draws.happens(`${name} meets`, stalls.meetings)) {
        const ms = draws.whole(`${name} meets within`, MEETING_MS.least, MEETING_MS.most);
        meeting = meetings.await(text, process, ms);
      } else if (slow === 0 && !draws.happens(name, SLOW_STATEMENTS)) return trip.now(run);
      slow += 1;
      const isStalled = draws.happens(`${name} stalls`, stalls.part);
      const stallMs = isStalled ? draws.whole(`${name} stall`, 1, stalls.msMax) : 0;
      return trip
        .later(() => (meeting === undefined ? run() : runAfterMeeting(run)), stallMs)
        .finally(() => {
          slow -= 1;
        });
    };
    return { onServer, runAfterMeeting };
  };
  const openTransaction =
    (database: Database, connected: Connected): Sql['transaction'] =>
    async <T>(work: (query: SqlWork) => Promise<T>): Promise<T> => {
      const trip = trips.openShort(connected);
      const send = trips.open(connected);
      const session = await trip.later(async () => begin(database, connected.process));
      const { transaction } = session;
      const { onServer, runAfterMeeting } = openSlowTrips(trip, connected.process);
      const query: SqlRunner = Object.assign(
        <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
          onServer(text, () => transaction.rows(text, values)) as Promise<R[]>,
        {
          changes: (text: string, values?: readonly SqlValue[]) =>
            onServer(text, () => transaction.changes(text, values)),
        },
      );
      try {
        return await runWork(work, query, (last) =>
          send(() =>
            runAfterMeeting(async () => {
              await Promise.all(last.map(([text, values]) => transaction.changes(text, values)));
              commit(database, session, connected);
            }),
          ),
        );
      } catch (error) {
        await trip
          .later(async () => {
            rollback(database, session);
          })
          .catch(() => undefined);
        throw error;
      }
    };
  const connect: SimulatedServer['connect'] = (name, process, Unavailable) => {
    const connected: Connected = { process, Unavailable };
    const database = find(name);
    const transaction = openTransaction(database, connected);
    /** One message that is a transaction by itself. */
    const runAtOnce = <T>(
      statements: readonly SqlStatement[],
      run: (on: ServerTransaction, statement: SqlStatement) => Promise<T>,
    ): Promise<readonly T[]> =>
      trips.open(connected)(async () => {
        const session = begin(database, process);
        try {
          const results = await Promise.all(statements.map((statement) => run(session.transaction, statement)));
          commit(database, session, connected);
          return results;
        } finally {
          rollback(database, session);
        }
      });
    const runForRows = (statements: readonly SqlStatement[]): Promise<readonly SqlRow[][]> =>
      runAtOnce(statements, (on, [text, values]) => on.rows(text, values));
    const alone: Sql['reserved'] = {
      read: async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) =>
        (await trips.openShort(connected).later(async () => database.rows.read(text, values))) as R[],
      write: async <R extends SqlRow>(text: string, values: readonly SqlValue[] = []) =>
        (await runForRows([[text, values]]))[0] as R[],
    };
    return {
      engine: 'postgres',
      skipLocked: 'FOR UPDATE SKIP LOCKED',
      forUpdate: 'FOR UPDATE',
      ...alone,
      reserved: alone,
      transaction,
      writeAll: runForRows,
      changeAll: (statements) => runAtOnce(statements, (on, [text, values]) => on.changes(text, values)),
      commitAhead: async (work) => ({ result: await transaction(work), durable: undefined }),
      commitUnsynced: transaction,
      emptyLog: async () => true,
      pool: () => POOL,
      close: async () => undefined,
    };
  };
  const drop = (isGone: (session: Session) => boolean): void => {
    for (const { sessions } of databases.values())
      for (const session of [...sessions].filter(isGone)) {
        sessions.delete(session);
        session.transaction.end();
      }
  };
  const define = ({ name, migrations }: ServiceSchema): Promise<void> =>
    find(name).rows.define((query) =>
      migrate({ engine: 'sqlite', transaction: (work) => runWork(work, query) }, migrations),
    );
  const closeAll = (): void => {
    for (const { rows } of databases.values()) rows.close();
    databases.clear();
  };
  return {
    folder,
    prepare: async (schema) => {
      prepared.push(schema);
      await define(schema);
    },
    connect,
    restore: async (from) => {
      drop(() => true);
      closeAll();
      copyStores(from, folder);
      for (const schema of prepared) await define(schema);
    },
    drop: (process) => {
      drop((session) => session.process === process);
    },
    goAway: (ms) => {
      awayUntil = scheduler.now() + ms;
      log(`the server is away for ${ms} ms`);
      drop(() => true);
    },
    close: () => {
      closeAll();
      rmSync(folder, { recursive: true });
    },
  };
}
