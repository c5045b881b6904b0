import type { SqlQuery, SqlRow, SqlValue } from './sql.ts';

/**
 * Runs the work of a transaction. A statement that failed fails it, even where the work caught that and went on: PostgreSQL would
 * undo everything at the commit without a word, and the engines are to behave alike.
 */
export async function runWork<T>(work: (query: SqlQuery) => Promise<T>, query: SqlQuery): Promise<T> {
  let failed: { readonly error: unknown } | undefined;
  const result = await work(async <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => {
    try {
      return await query<R>(text, values);
    } catch (error) {
      failed ??= { error };
      throw error;
    }
  });
  if (failed !== undefined) throw failed.error;
  return result;
}
