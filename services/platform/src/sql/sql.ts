/** What a column or a parameter can be. Whole numbers beyond 2^53 come as bigint. */
export type SqlValue = string | number | bigint | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** One statement with `$1` parameters, and a value for each; gives its rows (RETURNING included). */
export type SqlQuery = <R extends SqlRow = SqlRow>(text: string, values?: readonly SqlValue[]) => Promise<R[]>;

/** What the work of a transaction has in hand. */
export interface SqlWork extends SqlQuery {
  /** Runs a statement that gives no rows, and says how many it changed: for many rows far cheaper than to have each told. */
  readonly changes: (text: string, values?: readonly SqlValue[]) => Promise<number>;
}

/** A service's own database. One SQL text serves every engine behind it. */
export interface Sql {
  readonly engine: 'sqlite' | 'postgres';
  /** What a `SELECT` inside an `UPDATE … WHERE id IN (…)` ends in, so that two processes never take the same rows. */
  readonly skipLocked: string;
  /** Reads what is committed. Never writes. */
  readonly read: SqlQuery;
  /** One durable writing statement. */
  readonly write: SqlQuery;
  /**
   * All of it durably or none of it; none, too, when a statement failed and the work went on. The work awaits nothing but `query`: no
   * transaction spans a call.
   */
  transaction<T>(work: (query: SqlWork) => Promise<T>): Promise<T>;
  /** Waits for what was asked before it; what is asked after it is refused. */
  close(): Promise<void>;
}
