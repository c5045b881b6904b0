import type { Sql, SqlQuery, SqlRow, SqlStatement, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';

/**
 * A view of the database that notes the query plan of every statement. `noted` gets those that end with a transaction.
 */
export function explained(sql: Sql, plans: string[], noted: Promise<void>[] = []): Sql {
  const note = async (text: string, values: readonly SqlValue[]): Promise<void> => {
    const steps = await sql.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values);
    plans.push(...steps.map(({ detail }) => detail));
  };
  const query =
    (run: SqlQuery): SqlQuery =>
    async <R extends SqlRow>(text: string, values: readonly SqlValue[] = []): Promise<R[]> => {
      await note(text, values);
      return run<R>(text, values);
    };
  const work = (run: SqlWork): SqlWork =>
    Object.assign(query(run), {
      changes: async (text: string, values: readonly SqlValue[] = []): Promise<number> => {
        await note(text, values);
        return run.changes(text, values);
      },
      atEnd: (...statements: readonly SqlStatement[]): void => {
        for (const [text, values] of statements) noted.push(note(text, values));
        run.atEnd(...statements);
      },
    });
  return {
    ...sql,
    read: query(sql.read),
    write: query(sql.write),
    transaction: (run) => sql.transaction((on) => run(work(on))),
    commitUnsynced: (run) => sql.commitUnsynced((on) => run(work(on))),
  };
}
