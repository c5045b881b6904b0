import type { Sql } from '@reelgate/platform/sql/sql';
import { removeContent } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import { recordColumns, toJson } from '../columns.ts';
import { forgetWords } from '../prompts/sql-prompts.ts';
import type { EndedTaskStore } from '../task-store.ts';
import { CONTENT_FIELDS } from './task-rows.ts';

const CONTENT = recordColumns<Pick<Task, 'accountId' | 'order' | 'result' | 'failure'>>(CONTENT_FIELDS);
const HIDE = `UPDATE tasks SET deleted_at = $1, webhook_url = NULL
  WHERE id = $2 AND deleted_at IS NULL AND finished_at IS NOT NULL RETURNING ${CONTENT.list}`;
const STRIP = 'UPDATE tasks SET order_json = $1, result_json = $2, failure_json = $3, staged_json = NULL WHERE id = $4';
const STRIP_ATTEMPTS = 'UPDATE attempts SET error = NULL WHERE task_id = $1';

/** Hides a task from its owner, and removes the texts of the owner and the upstream, also from the search. */
export function sqlRemoval(sql: Sql): Pick<EndedTaskStore, 'remove' | 'eraseRemoved'> {
  let isLeft = false;
  const remove = (taskId: string, at: number): Promise<boolean> =>
    sql.transaction(async (query) => {
      const [row] = await query(HIDE, [at, taskId]);
      if (row === undefined) return false;
      const { accountId, order, result, failure } = removeContent(CONTENT.read(row));
      await query.changes(STRIP, [toJson(order), toJson(result), toJson(failure), taskId]);
      await query.changes(STRIP_ATTEMPTS, [taskId]);
      await forgetWords(query, { id: taskId, accountId });
      return true;
    });
  return {
    remove: async (taskId, at) => {
      const isRemoved = await remove(taskId, at);
      isLeft ||= isRemoved;
      return isRemoved;
    },
    eraseRemoved: async () => {
      if (!isLeft) return;
      isLeft = false;
      isLeft = !(await sql.emptyLog());
    },
  };
}
