import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import type { State } from '../../domain/task.ts';
import { TASK_COLUMNS, fromTaskRow, placeholders, searchable, text } from './task-rows.ts';
import { ADMITTED, VISIBLE } from './visible.ts';
import type { ChangeFilter, ChangeStore } from '../task-store.ts';

const STATES: readonly State[] = ['queued', 'in_progress', 'completed', 'failed'];
const ANY_STATE = `state IN (${STATES.map((state) => `'${state}'`).join(', ')})`;

export function sqlChanges(sql: Sql): ChangeStore {
  return {
    versions: async (taskIds) => {
      if (taskIds.length === 0) return new Map();
      const rows = await sql.read(
        `SELECT id, updated_at FROM tasks WHERE id IN (${placeholders(taskIds.length, 1)}) AND ${VISIBLE}`,
        taskIds,
      );
      return new Map(rows.map((row) => [text(row['id']), Number(row['updated_at'])]));
    },

    listChanges: async (accountIds, after, limit) => {
      if (accountIds.length === 0) return [];
      // The index holds every column that is read. It does not show removals, so removed tasks are among the rows.
      const rows = await sql.read(
        `SELECT id, updated_at FROM tasks WHERE account_id IN (${placeholders(accountIds.length, 4)})
         AND ${ANY_STATE} AND ${ADMITTED} AND updated_at >= $1
         AND (updated_at, id) > ($1, $2) ORDER BY updated_at, id LIMIT $3`,
        [after.at, after.id, limit, ...accountIds.map(searchable)],
      );
      return rows.map((row) => ({ id: text(row['id']), version: Number(row['updated_at']) }));
    },

    listChangedTasks: async (filter, after, limit) => {
      const { where, values } = conditions(filter);
      const page = (state: State): string =>
        `SELECT * FROM (
           SELECT ${TASK_COLUMNS} FROM tasks WHERE state = '${state}' AND ${where}
           AND updated_at >= $1 AND (updated_at, id) > ($1, $2) ORDER BY updated_at, id LIMIT $3
         ) AS ${state}_page`;
      // A page of each state, merged: each is read in the order of the index, so no sort grows with the history.
      const rows = await sql.read(
        `SELECT * FROM (${selectStates(filter).map(page).join(' UNION ALL ')}) AS pages
         ORDER BY updated_at, id LIMIT $3`,
        [after.at, after.id, limit, ...values],
      );
      return rows.map(fromTaskRow);
    },
  };
}

function selectStates({ states }: ChangeFilter): readonly State[] {
  return states === undefined || states.length === 0 ? STATES : [...new Set(states)];
}

function conditions({ accountId, model, kind }: ChangeFilter): { where: string; values: SqlValue[] } {
  const values: SqlValue[] = [searchable(accountId)];
  const parts = ['account_id = $4', VISIBLE];
  for (const [column, value] of Object.entries({ model, kind })) {
    if (value === undefined) continue;
    values.push(searchable(value));
    parts.push(`${column} = $${values.length + 3}`);
  }
  return { where: parts.join(' AND '), values };
}
