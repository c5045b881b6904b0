import { parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import type { State, Task } from '../../domain/task.ts';
import { countFrom, searchable, selectNumber, selectTexts, text } from '../columns.ts';
import type { ChangeFilter, ChangeStore, ReadStore, UnsettledTask } from '../task-store.ts';
import {
  buildRange,
  newValues,
  toDirection,
  toIdRange,
  ADMITTED,
  STATES,
  TASK,
  VISIBLE,
  buildConditions,
} from './task-rows.ts';
import { sqlHistory } from './sql-history.ts';
import { inFlight } from './sql-permits.ts';

/** Literals, because SQLite does not match a parameter to the partial index. */
const WITH_ADMISSION = {
  submitting: "admission = 'submitting'",
  unknown: "admission = 'unknown'",
  // no upstream can have the work of a task before a process claims it
  waiting: "admission = 'waiting' AND owner IS NOT NULL",
} as const;
/** The creates that a process works on. Each has an index of its own. */
const OWNED = [WITH_ADMISSION.submitting, WITH_ADMISSION.waiting] as const;

/** Reads of single tasks, lists of whole answers, and the reads of the sweeps. */
export function sqlReads(sql: Sql): ReadStore {
  const tasks = (where: string, values: readonly SqlValue[]): Promise<readonly Task[]> =>
    TASK.selectFrom(sql.read, `tasks WHERE ${where}`, values);
  const selectUnsettled = async (when: string, values: readonly SqlValue[]): Promise<readonly UnsettledTask[]> =>
    (
      await sql.read(
        `SELECT ${TASK.list}, settle_failures FROM tasks
         WHERE finished_at IS NOT NULL AND settled_at IS NULL AND ${when} ORDER BY settle_at LIMIT $2`,
        values,
      )
    ).map((row) => ({ ...TASK.read(row), settleFailures: Number(row['settle_failures']) }));
  return {
    find: async (taskId) => (await tasks('id = $1', [searchable(taskId)]))[0],
    findOwned: async (accountId, taskId) =>
      (await tasks(`id = $1 AND account_id = $2 AND ${VISIBLE}`, [searchable(taskId), searchable(accountId)]))[0],
    list: (filter, page) => {
      const { values, bind } = newValues();
      const where = buildConditions(filter, bind) + buildRange(toIdRange(filter, page), bind);
      const limit = `LIMIT ${bind(page.limit)} OFFSET ${bind(page.offset ?? 0)}`;
      return tasks(`${where} ORDER BY id ${toDirection(page)} ${limit}`, values);
    },
    count: (filter) => {
      const { values, bind } = newValues();
      const where = buildConditions(filter, bind) + buildRange(toIdRange(filter, { limit: 0 }), bind);
      return countFrom(sql.read, `tasks WHERE ${where}`, values);
    },
    ...sqlHistory(sql),
    inFlight: (scope) => inFlight(sql.read, scope),
    listAbandoned: async (deadOwners, limit) => {
      const found: Task[] = [];
      for (const owned of OWNED)
        found.push(
          ...(await tasks(
            `${owned} AND (NOT EXISTS (SELECT 1 FROM processes WHERE processes.id = tasks.owner)
             ${deadOwners.length === 0 ? '' : `OR owner IN (${parameters(deadOwners.length, 2)})`})
             ORDER BY id LIMIT $1`,
            [limit, ...deadOwners],
          )),
        );
      return found;
    },
    listOwnedCreateIds: async (owner, limit) => {
      const found: string[] = [];
      for (const owned of OWNED)
        found.push(
          ...(await selectTexts(sql.read, 'id', `tasks WHERE ${owned} AND owner = $1 LIMIT $2`, [owner, limit])),
        );
      return found;
    },
    listWithAdmission: (admission, { limit, after }) =>
      tasks(`${WITH_ADMISSION[admission]} AND finished_at IS NULL AND id > $1 ORDER BY id LIMIT $2`, [after, limit]),
    findFirstUnsettled: () =>
      selectNumber(
        sql.read,
        'settle_at',
        `tasks WHERE finished_at IS NOT NULL AND settled_at IS NULL AND settle_at > 0 ORDER BY settle_at LIMIT 1`,
      ),
    listUnsettled: async ({ before, beyond, limit }) => [
      ...(await selectUnsettled('settle_at < $1', [before, limit])),
      ...(await selectUnsettled('settle_at > $1', [beyond, limit])),
    ],
    findKnownUpstreamIds: async (upstreamAccount, ids) => {
      if (ids.length === 0) return new Set();
      const among = `upstream_account = $1 AND upstream_id IN (${parameters(ids.length, 2)})`;
      return new Set(await selectTexts(sql.read, 'upstream_id', `tasks WHERE ${among}`, [upstreamAccount, ...ids]));
    },
  };
}

const ANY_STATE = `state IN (${STATES.map((state) => `'${state}'`).join(', ')})`;

/** Tasks in the order of their last changes. */
export function sqlChanges(sql: Sql): ChangeStore {
  return {
    versions: async (taskIds) => {
      if (taskIds.length === 0) return new Map();
      const rows = await sql.read(
        `SELECT id, updated_at FROM tasks WHERE id IN (${parameters(taskIds.length)}) AND ${VISIBLE}`,
        taskIds,
      );
      return new Map(rows.map((row) => [text(row['id']), Number(row['updated_at'])]));
    },

    listChanges: async (accountIds, after, limit) => {
      if (accountIds.length === 0) return [];
      // The index holds every column that is read. It does not show removals, so removed tasks are among the rows.
      const rows = await sql.read(
        `SELECT id, updated_at FROM tasks WHERE account_id IN (${parameters(accountIds.length, 4)})
         AND ${ANY_STATE} AND ${ADMITTED} AND updated_at >= $1
         AND (updated_at, id) > ($1, $2) ORDER BY updated_at, id LIMIT $3`,
        [after.at, after.id, limit, ...accountIds.map(searchable)],
      );
      return rows.map((row) => ({ id: text(row['id']), version: Number(row['updated_at']) }));
    },

    listChangedTasks: async (filter, after, limit) => {
      const { values, bind } = newValues(after.at, after.id, limit);
      const where = buildConditions(filter, bind);
      const page = (state: State): string =>
        `SELECT * FROM (
           SELECT ${TASK.list} FROM tasks WHERE state = '${state}' AND ${where}
           AND updated_at >= $1 AND (updated_at, id) > ($1, $2) ORDER BY updated_at, id LIMIT $3
         ) AS ${state}_page`;
      // A page of each state, merged: each is read in the order of the index, so no sort grows with the history.
      const rows = await sql.read(
        `SELECT * FROM (${selectStates(filter).map(page).join(' UNION ALL ')}) AS pages
         ORDER BY updated_at, id LIMIT $3`,
        values,
      );
      return rows.map(TASK.read);
    },
  };
}

function selectStates({ states }: ChangeFilter): readonly State[] {
  return states === undefined || states.length === 0 ? STATES : [...new Set(states)];
}
