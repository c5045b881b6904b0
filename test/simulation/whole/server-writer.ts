import { DatabaseSync } from 'node:sqlite';
import type { Session } from 'node:sqlite';
import { prepareStatements, sqliteStatements } from '@reelgate/platform/sql/sqlite-statements';
import type { SqliteStatements } from '@reelgate/platform/sql/sqlite-statements';
import type { SqlRow, SqlRunner, SqlValue } from '@reelgate/platform/sql/sql';
import { LOCKED_ROW, replaceLockClause } from './lock-clauses.ts';
import type { PlainStatement } from './lock-clauses.ts';
import type { ServerLocks, TouchedRow } from './server-locks.ts';
import { nameRow, watchRows } from './watched-rows.ts';
import type { WatchedTable } from './watched-rows.ts';

/** Statements that write and lock no row. */
const READ = /^\s*(?:SELECT|WITH)\b(?!.*\b(?:INSERT|UPDATE|DELETE)\b)/s;
/** Statements that choose their rows by a condition. */
const CHOOSES_ROWS = /^\s*(?:UPDATE|DELETE)\b/;

/** What a transaction has changed so far, while the writer runs another one. */
export interface ParkedChanges {
  parked: Uint8Array | undefined;
}

export interface WriterStatement {
  readonly text: string;
  readonly run: (on: SqliteStatements, text: string) => unknown;
  /** The rows that its first run chose, if it waited for one of them. */
  chosen: ReadonlySet<string> | undefined;
}

/** A statement has an answer, or it changed nothing and waits for the end of another transaction. */
export type StatementOutcome<T> = { readonly value: unknown } | { readonly blocker: T; readonly touched: TouchedRow };

/** The file of a database, with the changes of several open transactions `T` that do not see one another. */
export interface ServerWriter<T> {
  /** Makes tables, before any transaction. */
  define(make: (query: SqlRunner) => Promise<unknown>): Promise<void>;
  /** Reads committed rows. */
  read(text: string, values?: readonly SqlValue[]): SqlRow[];
  /** Runs a statement. Throws its error. */
  run(transaction: T, statement: WriterStatement): StatementOutcome<T>;
  end(transaction: T, statement: 'COMMIT' | 'ROLLBACK'): void;
  close(): void;
}

/** The product opens its stores by other ways, whose statements the simulated disk watches. */
const { exec, close } = DatabaseSync.prototype;

/**
 * SQLite runs one transaction at a time. When another one has a statement, the changes of the one before are taken out
 * as a changeset, and applied again before its next statement, onto the rows that are committed by then. Its locks keep
 * others from the rows that it has changed.
 */
export function openServerWriter<T extends ParkedChanges>(file: string, locks: ServerLocks<T>): ServerWriter<T> {
  const [writer, reader] = [openFile(file), openFile(file)];
  const [onWriter, onReader] = [prepareStatements(writer), prepareStatements(reader)];
  const { enter, leave, has, isWithin } = openPlace<T>(writer);
  const plains = new Map<string, PlainStatement>();
  let tables: ReadonlyMap<string, WatchedTable> = new Map();
  let touched: TouchedRow[] = [];
  let running: { readonly transaction: T; readonly chosen: ReadonlySet<string> | undefined } | undefined;

  const toPlain = (text: string): PlainStatement => {
    const known = plains.get(text);
    if (known !== undefined) return known;
    const plain = replaceLockClause(text, tables);
    plains.set(text, plain);
    return plain;
  };
  /** Runs a statement on the writer, and returns the rows that it touched. */
  const runWatched = (transaction: T, { text, run, chosen }: WriterStatement) => {
    const plain = toPlain(text);
    const own: TouchedRow[] = [];
    touched = own;
    running = { transaction, chosen: CHOOSES_ROWS.test(text) ? chosen : undefined };
    try {
      const value = run(onWriter, plain.text);
      if (plain.locks === undefined) return { touched: own, value };
      return { touched: own, value: takeLockedRows(plain.locks, value as SqlRow[], { chosen, touched: own }) };
    } catch (error) {
      return { touched: own, error };
    } finally {
      running = undefined;
    }
  };
  return {
    define: async (make) => {
      exec.call(writer, 'BEGIN IMMEDIATE');
      await make(sqliteStatements(writer));
      exec.call(writer, 'COMMIT');
      tables = watchRows(writer, {
        onTouch: (row) => {
          if (running !== undefined) touched.push(row);
        },
        mayTouch: (row) => running?.chosen?.has(row) ?? true,
        isLocked: (row) => running !== undefined && locks.isHeldByOther(running.transaction, row),
      });
      exec.call(reader, 'PRAGMA query_only = ON');
    },
    read: (text, values) => onReader.rows(text, values),
    run: (transaction, statement) => {
      const { text, run } = statement;
      if (!has(transaction) && READ.test(text)) return { value: run(onReader, text) };
      enter(transaction);
      if (!locks.hasOthers(transaction)) {
        const done = runWatched(transaction, statement);
        if ('error' in done) throw done.error;
        locks.take(transaction, done.touched);
        return done;
      }
      exec.call(writer, 'SAVEPOINT statement');
      const done = runWatched(transaction, statement);
      const conflict = locks.findConflict(transaction, done.touched);
      if (conflict === undefined) {
        if ('error' in done) throw done.error;
        exec.call(writer, 'RELEASE statement');
        locks.take(transaction, done.touched);
        return done;
      }
      exec.call(writer, 'ROLLBACK TO statement; RELEASE statement');
      // PostgreSQL locks one row after the other, and keeps those before the one that it waits for
      locks.take(transaction, done.touched.slice(0, conflict.at));
      if (!('error' in done)) statement.chosen ??= new Set(done.touched.map(({ row }) => row));
      return { blocker: conflict.blocker, touched: done.touched[conflict.at]! };
    },
    end: (transaction, statement) => {
      if (statement === 'COMMIT' && has(transaction)) enter(transaction);
      if (isWithin(transaction)) leave(statement);
      transaction.parked = undefined;
    },
    close: () => {
      for (const one of [reader, writer]) close.call(one);
    },
  };
}

/** The place of the one transaction whose changes are in the writer. */
function openPlace<T extends ParkedChanges>(writer: DatabaseSync) {
  let resident: { readonly transaction: T; readonly session: Session } | undefined;
  const isWithin = (transaction: T): boolean => resident?.transaction === transaction;
  const leave = (statement: 'COMMIT' | 'ROLLBACK'): void => {
    resident?.session.close();
    resident = undefined;
    exec.call(writer, statement);
  };
  const park = (): void => {
    if (resident === undefined) return;
    const changes = resident.session.changeset();
    resident.transaction.parked = changes.length === 0 ? undefined : changes;
    leave('ROLLBACK');
  };
  return {
    isWithin,
    leave,
    /** Reports whether the transaction can have changed something. */
    has: (transaction: T): boolean => isWithin(transaction) || transaction.parked !== undefined,
    enter: (transaction: T): void => {
      if (isWithin(transaction)) return;
      park();
      exec.call(writer, 'BEGIN IMMEDIATE');
      resident = { transaction, session: writer.createSession() };
      const { parked } = transaction;
      if (parked !== undefined && !writer.applyChangeset(parked))
        throw new Error('the changes of a transaction do not fit the committed rows, although it holds their locks');
      transaction.parked = undefined;
    },
  };
}

/** Notes the rows that a SELECT has locked, and takes their names out of its answer. */
function takeLockedRows(
  table: WatchedTable,
  rows: readonly SqlRow[],
  { chosen, touched }: { readonly chosen: ReadonlySet<string> | undefined; readonly touched: TouchedRow[] },
): SqlRow[] {
  return rows.flatMap(({ [LOCKED_ROW]: key, ...row }) => {
    const name = nameRow(table.number, String(key));
    if (chosen?.has(name) === false) return [];
    touched.push({ act: 'lock', row: name, entries: [] });
    return [row];
  });
}

function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  exec.call(database, 'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON;');
  return database;
}
