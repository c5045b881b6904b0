import type { SqlQuery, SqlRow, SqlRunner, SqlStatement, SqlValue, SqlWork } from './sql.ts';

/**
 * Runs the work of a transaction. A failed statement fails the transaction, even if the work caught the error and went
 * on. PostgreSQL would silently roll back at the commit. With this rule both engines behave alike. The work may send
 * several statements at one moment. A statement after its end is refused. `runLast` runs the statements that it left
 * for the end.
 */
export async function runWork<T>(
  work: (query: SqlWork) => Promise<T>,
  query: SqlRunner,
  runLast: (statements: readonly SqlStatement[]) => Promise<unknown> = (statements) => runStatements(query, statements),
): Promise<T> {
  const last: SqlStatement[] = [];
  let failed: { readonly error: unknown } | undefined;
  const note = (error: unknown): never => {
    failed ??= { error };
    throw error;
  };
  let isOver = false;
  const assertOpen = (): void => {
    if (isOver) throw new Error('the transaction of this statement has ended');
  };
  try {
    const result = await work(
      Object.assign(
        async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => {
          assertOpen();
          return query<R>(text, values).catch(note);
        },
        {
          changes: async (text: string, values?: readonly SqlValue[]) => {
            assertOpen();
            return query.changes(text, values).catch(note);
          },
          atEnd: (...statements: readonly SqlStatement[]) => {
            assertOpen();
            last.push(...statements);
          },
        },
      ),
    );
    if (failed !== undefined) throw failed.error;
    isOver = true;
    await runLast(last);
    return result;
  } finally {
    isOver = true;
  }
}

/** Asks for all statements at one moment. Gives the number of changed rows of each. */
export function runStatements(
  query: { readonly changes: SqlRunner['changes'] },
  statements: readonly SqlStatement[],
): Promise<readonly number[]> {
  return Promise.all(statements.map(([text, values]) => query.changes(text, values)));
}

/** Does the same, and returns the rows of each. */
export function runForRows(query: SqlQuery, statements: readonly SqlStatement[]): Promise<readonly SqlRow[][]> {
  return Promise.all(statements.map(([text, values]) => query(text, values)));
}

/**
 * Runs the work of a transaction, and undoes it if the caller no longer waits. The transaction may have waited for the
 * database and then for a row lock.
 */
export async function whileAwaited<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  const result = await work();
  signal?.throwIfAborted();
  return result;
}
