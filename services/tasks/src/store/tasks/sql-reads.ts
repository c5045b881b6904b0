import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import { TASK_COLUMNS, fromTaskRow, placeholders, searchable, text } from './task-rows.ts';
import { conditions, idRange, buildRangeCondition } from './list-conditions.ts';
import { sqlHistory } from './sql-history.ts';
import { inFlight } from './sql-permits.ts';
import { VISIBLE } from './visible.ts';
import type { ReadStore, UnsettledTask } from '../task-store.ts';

/** Literals, because SQLite does not match a parameter to the partial index. */
const WITH_ADMISSION = { submitting: "admission = 'submitting'", unknown: "admission = 'unknown'" } as const;

export function sqlReads(sql: Sql): ReadStore {
  const tasks = async (where: string, values: readonly SqlValue[]) =>
    (await sql.read(`SELECT ${TASK_COLUMNS} FROM tasks WHERE ${where}`, values)).map(fromTaskRow);
  const selectUnsettled = async (when: string, values: readonly SqlValue[]): Promise<readonly UnsettledTask[]> =>
    (
      await sql.read(
        `SELECT ${TASK_COLUMNS}, settle_failures FROM tasks
         WHERE finished_at IS NOT NULL AND settled_at IS NULL AND ${when} ORDER BY settle_at LIMIT $2`,
        values,
      )
    ).map((row) => ({ ...fromTaskRow(row), settleFailures: Number(row['settle_failures']) }));
  return {
    find: async (taskId) => (await tasks('id = $1', [searchable(taskId)]))[0],
    findOwned: async (accountId, taskId) =>
      (await tasks(`id = $1 AND account_id = $2 AND ${VISIBLE}`, [searchable(taskId), searchable(accountId)]))[0],
    list: (filter, { limit, after, offset = 0, ascending = false }) => {
      const { where, values } = conditions(filter);
      const range = buildRangeCondition(idRange(filter, { after, ascending }), values);
      values.push(limit, offset);
      return tasks(
        `${where}${range} ORDER BY id ${ascending ? 'ASC' : 'DESC'}
         LIMIT $${values.length - 1} OFFSET $${values.length}`,
        values,
      );
    },
    count: async (filter) => {
      const { where, values } = conditions(filter);
      const range = buildRangeCondition(idRange(filter), values);
      const [row] = await sql.read(`SELECT COUNT(*) AS count FROM tasks WHERE ${where}${range}`, values);
      return Number(row?.['count'] ?? 0);
    },
    ...sqlHistory(sql),
    inFlight: (scope) => inFlight(sql.read, scope),
    listAbandoned: (deadOwners, limit) =>
      tasks(
        `admission = 'submitting'
         AND (NOT EXISTS (SELECT 1 FROM processes WHERE processes.id = tasks.owner)
         ${deadOwners.length === 0 ? '' : `OR owner IN (${placeholders(deadOwners.length, 2)})`})
         ORDER BY id LIMIT $1`,
        [limit, ...deadOwners],
      ),
    listOwnedCreateIds: async (owner, limit) =>
      (
        await sql.read("SELECT id FROM tasks WHERE admission = 'submitting' AND owner = $1 LIMIT $2", [owner, limit])
      ).map((row) => text(row['id'])),
    listWithAdmission: (admission, { limit, after }) =>
      tasks(`${WITH_ADMISSION[admission]} AND finished_at IS NULL AND id > $1 ORDER BY id LIMIT $2`, [after, limit]),
    listUnsettled: async ({ before, beyond, limit }) => [
      ...(await selectUnsettled('settle_at < $1', [before, limit])),
      ...(await selectUnsettled('settle_at > $1', [beyond, limit])),
    ],
    findKnownUpstreamIds: (upstreamAccount, ids) => findKnownUpstreamIds(sql, upstreamAccount, ids),
  };
}

async function findKnownUpstreamIds(
  sql: Sql,
  upstreamAccount: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await sql.read(
    `SELECT upstream_id FROM tasks WHERE upstream_account = $1 AND upstream_id IN (${placeholders(ids.length, 2)})`,
    [upstreamAccount, ...ids],
  );
  return new Set(rows.map((row) => text(row['upstream_id'])));
}
