import type { Sql, SqlRow, SqlStatement, SqlValue, SqlWork } from '../src/sql/sql.ts';
import { runStatements } from '../src/sql/transaction.ts';

/** A database whose transactions take a step after their last statement, right before their commit. */
export function beforeCommit(sql: Sql, step: () => Promise<unknown>): Sql {
  const transaction: Sql['transaction'] = (work, carrier) =>
    sql.transaction(async (query) => {
      const last: SqlStatement[] = [];
      const early: SqlWork = Object.assign(
        <R extends SqlRow>(text: string, values?: readonly SqlValue[]) => query<R>(text, values),
        {
          changes: query.changes,
          atEnd: (...statements: readonly SqlStatement[]) => {
            last.push(...statements);
          },
        },
      );
      const result = await work(early);
      await runStatements(query, last);
      await step();
      return result;
    }, carrier);
  return { ...sql, transaction, commitUnsynced: transaction };
}
