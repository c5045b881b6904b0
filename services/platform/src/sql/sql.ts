/** The value of a column or a parameter. Integers beyond 2^53 come as bigint. */
export type SqlValue = string | number | bigint | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** Runs one statement with `$1` parameters and a value for each. Gives its rows, including those of RETURNING. */
export type SqlQuery = <R extends SqlRow = SqlRow>(text: string, values?: readonly SqlValue[]) => Promise<R[]>;

/** The query function within a transaction. */
export interface SqlWork extends SqlQuery {
  /**
   * Runs a statement without RETURNING and gives the number of changed rows. For many rows this is far cheaper than
   * RETURNING.
   */
  readonly changes: (text: string, values?: readonly SqlValue[]) => Promise<number>;
}

/** A service's own database. One SQL text serves every engine behind it. */
export interface Sql {
  readonly engine: 'sqlite' | 'postgres';
  /** The end of a `SELECT` inside an `UPDATE … WHERE id IN (…)`, so that two processes never take the same rows. */
  readonly skipLocked: string;
  /** Reads committed rows only. It never writes. */
  readonly read: SqlQuery;
  /** One durable writing statement. */
  readonly write: SqlQuery;
  /**
   * Commits the work durably as a whole, or rolls it back. It also rolls back if the work caught the error of a
   * statement and went on. The work awaits nothing but `query`, so that no transaction spans a call.
   */
  transaction<T>(work: (query: SqlWork) => Promise<T>): Promise<T>;
  /** Waits for earlier statements and refuses later ones. */
  close(): Promise<void>;
}
