/** An integer of a row. One beyond 2^53 comes as bigint. */
export type SqlInteger = number | bigint;
/** The value of a column or a parameter. */
export type SqlValue = string | SqlInteger | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Runs one statement with `$1` parameters and a value for each. Returns its rows, including the rows of RETURNING. */
export type SqlQuery = <R extends SqlRow = SqlRow>(text: string, values?: readonly SqlValue[]) => Promise<R[]>;

/**
 * Runs statements of one transaction. Statements that are asked for at one moment run in the order of their calls, and a
 * server gets them in one message.
 */
export interface SqlRunner extends SqlQuery {
  /**
   * Runs a statement without RETURNING and returns the number of changed rows. For many rows this is far cheaper than
   * RETURNING.
   */
  readonly changes: (text: string, values?: readonly SqlValue[]) => Promise<number>;
}

/** The query function within a transaction. */
export interface SqlWork extends SqlRunner {
  /**
   * Adds statements that run after the work, right before the commit. A server gets them in the message of the commit,
   * so a row that others wait for is locked for the shortest time. Nothing can refuse their outcome any more: they
   * succeed, or fail the transaction by themselves.
   */
  readonly atEnd: (...statements: readonly SqlStatement[]) => void;
}

/** A statement with its values. */
export type SqlStatement = readonly [text: string, values: readonly SqlValue[]];

/** Single statements. */
export interface SqlStatements {
  /** Reads committed rows only. It never writes. */
  readonly read: SqlQuery;
  /** Runs one durable writing statement. */
  readonly write: SqlQuery;
}

/** A service's own database. One SQL text serves every engine behind it. */
export interface Sql extends SqlStatements {
  readonly engine: 'sqlite' | 'postgres';
  /** The end of a `SELECT` inside an `UPDATE … WHERE id IN (…)`, so that two processes never take the same rows. */
  readonly skipLocked: string;
  /**
   * The end of a `SELECT` that locks its rows until the commit, in their order, and reads the writes of the transaction
   * that held them before. An embedded database has one transaction at a time.
   */
  readonly forUpdate: string;
  /**
   * Commits the work durably as a whole, or rolls it back. It also rolls back if the work caught the error of a
   * statement and went on. The work awaits only `query`, so that no transaction spans a call. It changes only the
   * database, because it runs again if another transaction of the same commit fails. The carrier names the trace of the
   * transaction, for the exemplars of its duration.
   */
  transaction<T>(work: (query: SqlWork) => Promise<T>, carrier?: string): Promise<T>;
  /**
   * Runs a transaction of statements that do not depend on one another's answers. A server gets it in one message.
   * Returns the rows of each.
   */
  writeAll(statements: readonly SqlStatement[]): Promise<readonly (readonly SqlRow[])[]>;
  /** Does the same for statements without RETURNING. Returns the number of rows that each changed. */
  changeAll(statements: readonly SqlStatement[]): Promise<readonly number[]>;
  /**
   * Like `transaction`, but an embedded database resolves as soon as other transactions find the work, while the disk
   * is still being written. A server commits and writes in one step, so there it is durable immediately.
   */
  commitAhead<T>(work: (query: SqlWork) => Promise<T>): Promise<CommitResult<T>>;
  /**
   * Like `transaction`, but an embedded database does not wait for the disk: the work survives a kill of the process,
   * and a power cut can take it back. Readers can find it. It is committed only after the disk has every earlier commit.
   */
  commitUnsynced<T>(work: (query: SqlWork) => Promise<T>): Promise<T>;
  /**
   * Empties the log of an embedded database in the background, so that its files keep no data that earlier transactions
   * removed. Returns false if others were in the way for long. A server keeps such bytes until its own cleaning.
   */
  emptyLog(): Promise<boolean>;
  /** Returns the connections to the server. For an embedded database, returns its only writing connection. */
  pool(): SqlPool;
  /**
   * Statements of the process itself, such as its heartbeat. They do not wait for other work, however many calls wait
   * for a connection.
   */
  readonly reserved: SqlStatements;
  /** Waits for earlier statements and refuses later ones. */
  close(): Promise<void>;
}

/** Work that is committed, so that every later transaction finds it. */
export interface CommitResult<T> {
  readonly result: T;
  /**
   * Resolves when the work survives a power cut, and rejects if that is not known. Undefined if it survives one
   * already.
   */
  readonly durable: Promise<void> | undefined;
}

export interface SqlPool {
  readonly inUse: number;
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
  /** The time in milliseconds that the first of them has waited; 0 for an embedded database. */
  readonly waitedMs: number;
}

/**
 * A store cannot be used at the moment: it is unreachable, full, overloaded or stopping. A permanent fault, such as a
 * wrong statement, is never one.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  /** The write may have succeeded: the store did not answer after it was sent. */
  readonly maybeWritten: boolean;
  /** Other transactions were in its way. The store works, and no data is written. */
  readonly isContention: boolean;

  /** The fault in the words for operators, undefined if its cause is not known. */
  readonly fault: StoreFault | undefined;
  readonly isPlain: boolean;

  constructor(cause: unknown, { maybeWritten = false, isContention = false, fault }: UnavailableOptions = {}) {
    super(
      fault === undefined
        ? `a store cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`
        : `${fault.detail}; ${fault.remedy}`,
      { cause },
    );
    this.maybeWritten = maybeWritten;
    this.isContention = isContention;
    this.fault = fault;
    this.isPlain = fault !== undefined;
  }
}

interface UnavailableOptions {
  readonly maybeWritten?: boolean;
  readonly isContention?: boolean;
  readonly fault?: StoreFault;
}

/** A fault of a store in words: the service, the database, the role, the reason and the remedy. */
export interface StoreFault {
  readonly detail: string;
  readonly remedy: string;
}

/** The program must not use the store, and waiting does not help. The message has the reason and the remedy. */
export class StoreRefused extends Error {
  override readonly name = 'StoreRefused';
  readonly isPlain = true;
}
