import { POSTGRES_DEFAULTS } from '@reelgate/platform/sql/postgres-settings';
import type { SqliteStatements } from '@reelgate/platform/sql/sqlite-statements';
import type { SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import type { PendingEvent } from './scheduler.ts';
import { openServerLocks } from './server-locks.ts';
import type { TouchedRow } from './server-locks.ts';
import { openServerWriter } from './server-writer.ts';
import type { ParkedChanges, ServerWriter, WriterStatement } from './server-writer.ts';

/** PostgreSQL looks for a deadlock once, after a statement has waited for this time. */
export const DEADLOCK_MS = 1000;
/** The letters of a statement that are told. */
const NAME_MAX = 100;

/** An error as PostgreSQL reports it. */
class ServerError extends Error {
  readonly code: string;
  readonly severity: 'ERROR' | 'FATAL';

  constructor(code: string, message: string, severity: 'ERROR' | 'FATAL' = 'ERROR') {
    super(message);
    this.code = code;
    this.severity = severity;
  }
}

/** A transaction of a database. Its statements run in the order of their calls, each after the one before has ended. */
export interface ServerTransaction {
  rows(text: string, values?: readonly SqlValue[]): Promise<SqlRow[]>;
  changes(text: string, values?: readonly SqlValue[]): Promise<number>;
  /** Returns false if the transaction has ended before. */
  commit(): boolean;
  rollback(): void;
  /** Rolls back, and fails the statements that have no answer. */
  end(): void;
  readonly isOver: () => boolean;
}

/**
 * A database with several open transactions, as PostgreSQL isolates them by default: a statement sees what was committed
 * when it ran, and what its own transaction wrote. A statement that touches a row which another transaction holds waits
 * for the end of that transaction, and then decides again over the rows that it had chosen.
 */
export interface ServerDatabase extends Pick<ServerWriter<ParkedChanges>, 'define' | 'read' | 'close'> {
  begin(): ServerTransaction;
}

export interface ServerDatabaseOptions {
  readonly file: string;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => Timer;
  /** Called with a sentence about a statement that waits, or that is refused because of others. */
  readonly log?: (text: string) => void;
}

type Timer = Pick<PendingEvent, 'isCancelled'>;

interface Transaction extends ParkedChanges {
  readonly queue: Statement[];
  wait: Wait | undefined;
  isOver: boolean;
  /** The error that its later statements are refused with. */
  refusal: ServerError;
  idleSince: number;
  idleEnd: Timer | undefined;
}

interface Statement extends WriterStatement {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Those who began to wait first run first. */
  order: number | undefined;
}

interface Wait {
  readonly transaction: Transaction;
  readonly blocker: Transaction;
  readonly touched: TouchedRow;
  readonly order: number;
  readonly limits: readonly Timer[];
}

const NONE: ReadonlySet<string> = new Set();
const ABORTED = new ServerError('25P02', 'current transaction is aborted, commands ignored until end of transaction');
const ENDED = new ServerError('57P01', 'terminating connection due to administrator command', 'FATAL');
const IDLE = new ServerError('25P03', 'terminating connection due to idle-in-transaction timeout', 'FATAL');

export function openServerDatabase({ file, now, after, log }: ServerDatabaseOptions): ServerDatabase {
  const locks = openServerLocks<Transaction>();
  const writer = openServerWriter(file, locks);
  const waits = openWaits();

  const beginWait = (transaction: Transaction, blocker: Transaction, touched: TouchedRow): void => {
    const statement = transaction.queue[0]!;
    const name = statement.text.replaceAll(/\s+/g, ' ').trim().slice(0, NAME_MAX);
    if (statement.order === undefined) log?.(`a statement waits for another transaction: ${name}`);
    statement.order ??= waits.nextOrder();
    const refuse = (error: ServerError): void => {
      log?.(`${error.message}: ${name}`);
      fail(transaction, error, ABORTED);
    };
    const limits = [
      after(DEADLOCK_MS, () => {
        if (isInCycle(transaction)) refuse(new ServerError('40P01', 'deadlock detected'));
      }),
      after(POSTGRES_DEFAULTS.lockMs, () => {
        refuse(new ServerError('55P03', 'canceling statement due to lock timeout'));
      }),
    ];
    waits.add({ transaction, blocker, touched, order: statement.order, limits });
    watchIdle(blocker);
  };
  /** The server ends a transaction whose process sends nothing for long. Only those who wait for it can tell when. */
  const watchIdle = (transaction: Transaction): void => {
    if (transaction.idleEnd !== undefined) return;
    const leftMs = transaction.idleSince + POSTGRES_DEFAULTS.idleInTransactionMs - now();
    transaction.idleEnd = after(Math.max(1, leftMs), () => {
      transaction.idleEnd = undefined;
      if (!endIfIdle(transaction) && waits.listFor(transaction).length > 0) watchIdle(transaction);
    });
  };
  const endIfIdle = (transaction: Transaction): boolean => {
    if (transaction.isOver) return true;
    if (transaction.queue.length > 0 || now() - transaction.idleSince < POSTGRES_DEFAULTS.idleInTransactionMs)
      return false;
    fail(transaction, IDLE, IDLE);
    return true;
  };
  /** Runs the statements of a transaction up to the first one that waits. */
  const runQueue = (transaction: Transaction): void => {
    while (transaction.wait === undefined && !transaction.isOver) {
      const [statement] = transaction.queue;
      transaction.idleSince = now();
      if (statement === undefined) return;
      try {
        const outcome = writer.run(transaction, statement);
        if ('blocker' in outcome) {
          beginWait(transaction, outcome.blocker, outcome.touched);
          return;
        }
        transaction.queue.shift();
        statement.resolve(outcome.value);
      } catch (error) {
        fail(transaction, error, ABORTED);
      }
    }
  };
  /** A failed statement ends the transaction at once, and those that were sent with it fail too. */
  const fail = (transaction: Transaction, error: unknown, refusal: ServerError): void => {
    if (transaction.isOver) return;
    transaction.refusal = refusal;
    const statements = transaction.queue.splice(0);
    finish(transaction, 'ROLLBACK');
    for (const { reject } of statements) reject(error);
  };
  const finish = (transaction: Transaction, statement: 'COMMIT' | 'ROLLBACK'): void => {
    if (transaction.isOver) return;
    transaction.isOver = true;
    waits.remove(transaction);
    if (transaction.idleEnd !== undefined) transaction.idleEnd.isCancelled = true;
    writer.end(transaction, statement);
    const waiting = waits.listFor(transaction).map((wait) => wait.transaction);
    const removed = statement === 'COMMIT' ? locks.listRemoved(transaction) : NONE;
    for (const { queue } of waiting) leaveOut(queue[0], removed);
    locks.release(transaction);
    for (const one of waiting) runAgain(one, removed);
  };
  /** The row is locked for the one that waited first, even if its condition no longer holds. */
  const runAgain = (transaction: Transaction, removed: ReadonlySet<string>): void => {
    if (transaction.wait?.blocker.isOver !== true) return;
    const { act, row } = transaction.wait.touched;
    waits.remove(transaction);
    const own: TouchedRow = { act: 'lock', row, entries: [] };
    if (act !== 'insert' && !removed.has(row) && locks.findConflict(transaction, [own]) === undefined)
      locks.take(transaction, [own]);
    runQueue(transaction);
  };
  return {
    define: writer.define,
    read: writer.read,
    close: writer.close,
    begin: () => {
      const transaction = newTransaction(now());
      const send = <T>(text: string, run: (on: SqliteStatements, text: string) => T): Promise<T> =>
        new Promise((resolve, reject) => {
          if (endIfIdle(transaction)) {
            reject(transaction.refusal);
            return;
          }
          transaction.queue.push({
            ...{ text, run, chosen: undefined, order: undefined, reject },
            resolve: resolve as (value: unknown) => void,
          });
          if (transaction.queue.length === 1) runQueue(transaction);
        });
      return {
        rows: (text, values) => send(text, (on, plain) => on.rows(plain, values)),
        changes: (text, values) => send(text, (on, plain) => on.changes(plain, values)),
        commit: () => {
          if (endIfIdle(transaction)) return false;
          finish(transaction, 'COMMIT');
          return true;
        },
        rollback: () => {
          finish(transaction, 'ROLLBACK');
        },
        end: () => {
          fail(transaction, ENDED, ENDED);
        },
        isOver: () => transaction.isOver,
      };
    },
  };
}

function leaveOut(statement: Statement | undefined, removed: ReadonlySet<string>): void {
  if (statement?.chosen !== undefined) statement.chosen = statement.chosen.difference(removed);
}

function newTransaction(idleSince: number): Transaction {
  return {
    ...{ parked: undefined, queue: [], wait: undefined, isOver: false, refusal: ENDED, idleEnd: undefined },
    idleSince,
  };
}

/** Reports whether a transaction waits for one that waits, over any number of others, for it. */
function isInCycle(transaction: Transaction): boolean {
  const seen = new Set<Transaction>();
  let next = transaction.wait?.blocker;
  while (next !== undefined && !seen.has(next)) {
    if (next === transaction) return true;
    seen.add(next);
    next = next.wait?.blocker;
  }
  return false;
}

/** The statements that wait, in the order in which they began. */
function openWaits() {
  const waits: Wait[] = [];
  let begun = 0;
  return {
    nextOrder: (): number => {
      begun += 1;
      return begun;
    },
    listFor: (blocker: Transaction): readonly Wait[] => waits.filter((wait) => wait.blocker === blocker),
    add: (wait: Wait): void => {
      const later = waits.findIndex(({ order }) => order > wait.order);
      waits.splice(later < 0 ? waits.length : later, 0, wait);
      wait.transaction.wait = wait;
    },
    remove: (transaction: Transaction): void => {
      const { wait } = transaction;
      if (wait === undefined) return;
      transaction.wait = undefined;
      waits.splice(waits.indexOf(wait), 1);
      for (const limit of wait.limits) limit.isCancelled = true;
    },
  };
}
