import type { SqlRow, SqlValue, SqlWork } from './sql.ts';

/**
 * Runs the work of a transaction. A statement that failed fails it, even where the work caught that and went on: PostgreSQL would
 * undo everything at the commit without a word, and the engines are to behave alike.
 */
export async function runWork<T>(work: (query: SqlWork) => Promise<T>, query: SqlWork): Promise<T> {
  let failed: { readonly error: unknown } | undefined;
  const note = (error: unknown): never => {
    failed ??= { error };
    throw error;
  };
  const result = await work(
    Object.assign(
      async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => query<R>(text, values).catch(note),
      { changes: async (text: string, values?: readonly SqlValue[]) => query.changes(text, values).catch(note) },
    ),
  );
  if (failed !== undefined) throw failed.error;
  return result;
}
