import { firstIdAt } from '@reelgate/platform/ids';
import { parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import type { State, Task } from '../../domain/task.ts';
import { searchable, text } from '../columns.ts';
import type {
  ChangeFilter,
  ChangeStore,
  ListFilter,
  Page,
  ReadStore,
  StepStore,
  TaskLister,
  TaskStep,
  UnsettledTask,
} from '../task-store.ts';
import { sqlHistory } from './sql-history.ts';
import { inFlight } from './sql-permits.ts';
import { ADMITTED, COMPARED_COLUMNS, STATES, TASK, VISIBLE, buildConditions } from './task-rows.ts';
import type { Bind, CreationTimes } from './task-rows.ts';

/** Literals, because SQLite does not match a parameter to the partial index. */
const WITH_ADMISSION = {
  submitting: "admission = 'submitting'",
  unknown: "admission = 'unknown'",
  // no upstream can have the work of a task before a process claims it
  waiting: "admission = 'waiting' AND owner IS NOT NULL",
} as const;
/** The creates that a process works on. Each has an index of its own. */
const OWNED = [WITH_ADMISSION.submitting, WITH_ADMISSION.waiting] as const;

/** Values of a statement, in the order of their parameters. */
function newValues(...first: readonly SqlValue[]): { readonly values: SqlValue[]; readonly bind: Bind } {
  const values = [...first];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** The ids of a page, without both bounds. */
interface IdRange {
  readonly above?: string | undefined;
  readonly below?: string | undefined;
}

/** Ids sort by the time of creation, so times are ids. */
function toIdRange({ createdFrom, createdBefore }: CreationTimes, { after, ascending = false }: StepPage): IdRange {
  const from = createdFrom === undefined ? [] : [firstIdAt('task', createdFrom)];
  const before = createdBefore === undefined ? [] : [firstIdAt('task', createdBefore)];
  const position = after === undefined ? [] : [after];
  return {
    above: [...from, ...(ascending ? position : [])].toSorted().at(-1),
    below: [...before, ...(ascending ? [] : position)].toSorted().at(0),
  };
}

function buildRange({ above, below }: IdRange, bind: Bind): string {
  const isAbove = above === undefined ? '' : ` AND id > ${bind(searchable(above))}`;
  return below === undefined ? isAbove : `${isAbove} AND id < ${bind(searchable(below))}`;
}

type StepPage = Omit<Page, 'offset'>;
type Direction = 'ASC' | 'DESC';

function toDirection({ ascending = false }: StepPage): Direction {
  return ascending ? 'ASC' : 'DESC';
}

/** Reads of single tasks, lists of whole answers, and what the sweeps ask for. */
export function sqlReads(sql: Sql): ReadStore {
  const tasks = async (where: string, values: readonly SqlValue[]): Promise<readonly Task[]> =>
    (await sql.read(`SELECT ${TASK.list} FROM tasks WHERE ${where}`, values)).map(TASK.read);
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
    count: async (filter) => {
      const { values, bind } = newValues();
      const where = buildConditions(filter, bind) + buildRange(toIdRange(filter, { limit: 0 }), bind);
      const [row] = await sql.read(`SELECT COUNT(*) AS count FROM tasks WHERE ${where}`, values);
      return Number(row?.['count'] ?? 0);
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
          ...(await sql.read(`SELECT id FROM tasks WHERE ${owned} AND owner = $1 LIMIT $2`, [owner, limit])).map(
            (row) => text(row['id']),
          ),
        );
      return found;
    },
    listWithAdmission: (admission, { limit, after }) =>
      tasks(`${WITH_ADMISSION[admission]} AND finished_at IS NULL AND id > $1 ORDER BY id LIMIT $2`, [after, limit]),
    findFirstUnsettled: async () => {
      const [first] = await sql.read(
        `SELECT settle_at FROM tasks WHERE finished_at IS NOT NULL AND settled_at IS NULL AND settle_at > 0
         ORDER BY settle_at LIMIT 1`,
      );
      return first === undefined ? undefined : Number(first['settle_at']);
    },
    listUnsettled: async ({ before, beyond, limit }) => [
      ...(await selectUnsettled('settle_at < $1', [before, limit])),
      ...(await selectUnsettled('settle_at > $1', [beyond, limit])),
    ],
    findKnownUpstreamIds: async (upstreamAccount, ids) => {
      if (ids.length === 0) return new Set();
      const rows = await sql.read(
        `SELECT upstream_id FROM tasks WHERE upstream_account = $1 AND upstream_id IN (${parameters(ids.length, 2)})`,
        [upstreamAccount, ...ids],
      );
      return new Set(rows.map((row) => text(row['upstream_id'])));
    },
  };
}

/**
 * The most tasks that one answer examines. At a million tasks that takes about 5 ms on both stores, and about 30 ms on
 * PostgreSQL if each of them is on a page of its own.
 */
const EXAMINED_MAX = 2000;
/** With no more unfinished tasks than this, all of them are examined at once. */
const UNFINISHED_MAX = 5000;
const UNFINISHED: ReadonlySet<State> = new Set(['queued', 'in_progress']);

interface StepContext {
  readonly sql: Sql;
  readonly examinedMax: number;
  readonly unfinishedMax: number;
}

/**
 * Lists that are quick for any number of tasks and any filter, because each answer examines a bounded number of tasks.
 */
export function sqlListSteps(
  sql: Sql,
  reads: TaskLister,
  bounds = { examinedMax: EXAMINED_MAX, unfinishedMax: UNFINISHED_MAX },
): StepStore {
  const on = { sql, ...bounds };
  return {
    listStep: async (filter, page) => {
      const onePageMore = { ...page, limit: page.limit + 1 };
      const isNamed = filter.upstream !== undefined || (filter.taskIds ?? []).length > 0;
      if (isNamed) return toTaskStep(await reads.list(filter, onePageMore), page);
      if (await hasFewUnfinished(on, filter)) return toTaskStep(await listUnfinished(sql, filter, onePageMore), page);
      return examine(on, filter, page);
    },
  };
}

/** A page of one task more than it may have, so that it is known whether more follow. */
function toTaskStep(found: readonly Task[], { limit }: StepPage): TaskStep {
  const tasks = found.slice(0, limit);
  return { tasks, continueAfter: found.length > limit ? tasks.at(-1)?.id : undefined };
}

/** Examines the next tasks of an account, of all accounts, or of the failures of an account. */
async function examine(on: StepContext, filter: ListFilter, page: StepPage): Promise<TaskStep> {
  const range = toIdRange(filter, page);
  const order = toDirection(page);
  const last = await findLastExamined(on, filter, range, order);
  const { values, bind } = newValues();
  const where = buildConditions(filter, bind) + (isOfFailures(filter) ? " AND state = 'failed'" : '');
  const within = buildRange(last === undefined ? range : withoutFarEnd(range, order), bind);
  const end = last === undefined ? '' : ` AND id ${order === 'ASC' ? '<=' : '>='} ${bind(last)}`;
  const rows = await on.sql.read(
    `SELECT ${TASK.list} FROM tasks WHERE ${where}${within}${end} ORDER BY id ${order} LIMIT ${bind(page.limit + 1)}`,
    values,
  );
  const { tasks, continueAfter = last } = toTaskStep(rows.map(TASK.read), page);
  return { tasks, continueAfter };
}

/** Without the far end, in whose place the bound stands. SQLite would search the index by the wider one of the two. */
function withoutFarEnd({ above, below }: IdRange, order: Direction): IdRange {
  return order === 'ASC' ? { above } : { below };
}

/** The last task of a step, if more follow it. */
async function findLastExamined(
  { sql, examinedMax }: StepContext,
  filter: ListFilter,
  range: IdRange,
  order: Direction,
): Promise<string | undefined> {
  const { values, bind } = newValues();
  const owned = filter.accountId === undefined ? '1 = 1' : `account_id = ${bind(searchable(filter.accountId))}`;
  const walk = owned + (isOfFailures(filter) ? " AND state = 'failed'" : '') + buildRange(range, bind);
  const [last, next] = await sql.read(
    `SELECT id FROM tasks WHERE ${walk} ORDER BY id ${order} LIMIT 2 OFFSET ${bind(examinedMax - 1)}`,
    values,
  );
  return next === undefined ? undefined : text(last?.['id']);
}

/** Failures are few among the tasks of an account, so they have an index. It is partial, and asked for by a literal. */
function isOfFailures({ accountId, states }: ListFilter): boolean {
  return accountId !== undefined && states?.length === 1 && states[0] === 'failed';
}

/** Reports whether the filter asks only for unfinished tasks, and all of them can be examined at once. */
async function hasFewUnfinished({ sql, unfinishedMax }: StepContext, filter: ListFilter): Promise<boolean> {
  const { states = [] } = filter;
  if (states.length === 0 || !states.every((state) => UNFINISHED.has(state))) return false;
  const { values, bind } = newValues(unfinishedMax + 1);
  const [row] = await sql.read(
    `SELECT COUNT(*) AS count FROM (
       SELECT id FROM tasks WHERE ${chooseUnfinishedIndex(filter, bind)} LIMIT $1
     ) AS unfinished`,
    values,
  );
  return Number(row?.['count'] ?? 0) <= unfinishedMax;
}

/** The unfinished tasks are found apart from all else, so that no plan goes along other tasks for them. */
async function listUnfinished(sql: Sql, filter: ListFilter, page: StepPage): Promise<readonly Task[]> {
  const { values, bind } = newValues();
  const unfinished = chooseUnfinishedIndex(filter, bind);
  const where = buildConditions(filter, bind) + buildRange(toIdRange(filter, page), bind);
  const order = toDirection(page);
  const rows = await sql.read(
    `WITH unfinished AS MATERIALIZED (SELECT ${COMPARED_COLUMNS.join(', ')} FROM tasks WHERE ${unfinished})
     SELECT ${TASK.list} FROM tasks WHERE id IN (SELECT id FROM (
       SELECT id FROM unfinished WHERE ${where} ORDER BY id ${order} LIMIT ${bind(page.limit)}
     ) AS page) ORDER BY id ${order}`,
    values,
  );
  return rows.map(TASK.read);
}

/**
 * For an owner the index of its states. Operators also see creates, which only the index of all unfinished tasks has.
 */
function chooseUnfinishedIndex({ accountId, hidden }: ListFilter, bind: Bind): string {
  return hidden === true || accountId === undefined
    ? 'finished_at IS NULL'
    : `account_id = ${bind(searchable(accountId))} AND state IN ('queued', 'in_progress') AND ${VISIBLE}`;
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
