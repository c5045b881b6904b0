import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import type { State, Task } from '../../domain/task.ts';
import type { ListFilter, Page, ReadStore, StepStore, TaskStep } from '../task-store.ts';
import { idRange, buildRangeCondition } from './list-conditions.ts';
import type { IdRange } from './list-conditions.ts';
import { TASK_COLUMNS, fromTaskRow, searchable, text } from './task-rows.ts';
import { VISIBLE } from './visible.ts';

/**
 * The most tasks that one answer examines. At a million tasks that takes about 5 ms on both stores, and about 30 ms on
 * PostgreSQL if each of them is on a page of its own.
 */
const EXAMINED_MAX = 2000;
/** With no more unfinished tasks than this, all of them are examined at once. */
const UNFINISHED_MAX = 5000;
const STATES: readonly State[] = ['queued', 'in_progress', 'completed', 'failed'];
const UNFINISHED: ReadonlySet<State> = new Set(['queued', 'in_progress']);

/**
 * The condition of a filter apart from the account and the times, in one text for all filters. Only the rows of a
 * step are compared with it, so it needs no index.
 */
const MATCHES = `state IN ($1, $2, $3, $4) AND (CAST($5 AS TEXT) IS NULL OR model = $5)
  AND (CAST($6 AS TEXT) IS NULL OR kind = $6)
  AND (CAST($7 AS TEXT) IS NULL OR (channel = $7 AND upstream_account IS NOT NULL))`;
const MATCH_VALUES = 7;

/** Rows in an index that a step goes along. */
interface Walk {
  readonly where: string;
  readonly values: readonly SqlValue[];
}

type StepPage = Omit<Page, 'offset'>;
type Direction = 'ASC' | 'DESC';

interface StepContext {
  readonly sql: Sql;
  readonly examinedMax: number;
  readonly unfinishedMax: number;
}

/** Lists that are quick for any number of tasks and any filter, because each answer examines a bounded number of tasks. */
export function sqlListSteps(
  sql: Sql,
  reads: Pick<ReadStore, 'list'>,
  bounds = { examinedMax: EXAMINED_MAX, unfinishedMax: UNFINISHED_MAX },
): StepStore {
  const on = { sql, ...bounds };
  return {
    listStep: async (filter, page) => {
      const isNamed = filter.upstream !== undefined || (filter.taskIds ?? []).length > 0;
      if (isNamed) return toTaskStep(await reads.list(filter, { ...page, limit: page.limit + 1 }), page);
      if (await hasFewUnfinished(on, filter))
        return toTaskStep(await listUnfinished(sql, filter, { ...page, limit: page.limit + 1 }), page);
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
  const range = idRange(filter, page);
  const order: Direction = page.ascending === true ? 'ASC' : 'DESC';
  const bound = await findLastExamined(on, filter, range, order);
  const walk = buildWalk(filter, MATCH_VALUES + 1);
  const values = [...matchValues(filter), ...walk.values];
  const within = buildRangeCondition(bound === undefined ? range : withoutFarEnd(range, order), values);
  if (bound !== undefined) values.push(bound);
  const end = bound === undefined ? '' : ` AND id ${order === 'ASC' ? '<=' : '>='} $${values.length}`;
  values.push(page.limit + 1);
  const rows = await on.sql.read(
    `SELECT ${TASK_COLUMNS} FROM tasks WHERE ${walk.where} AND ${MATCHES}${within}${end}
     ORDER BY id ${order} LIMIT $${values.length}`,
    values,
  );
  const { tasks, continueAfter = bound } = toTaskStep(rows.map(fromTaskRow), page);
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
  const walk = chooseIndex(filter, 1);
  const values = [...walk.values];
  const within = buildRangeCondition(range, values);
  values.push(examinedMax - 1);
  const [last, next] = await sql.read(
    `SELECT id FROM tasks WHERE ${walk.where}${within} ORDER BY id ${order} LIMIT 2 OFFSET $${values.length}`,
    values,
  );
  return next === undefined ? undefined : text(last?.['id']);
}

function buildWalk(filter: ListFilter, first: number): Walk {
  const { where, values } = chooseIndex(filter, first);
  return { where: filter.hidden === true ? where : `${where} AND ${VISIBLE}`, values };
}

/** Failures are few among the tasks of an account, so they have an index. A literal, because it is a partial one. */
function chooseIndex({ accountId, states }: ListFilter, first: number): Walk {
  if (accountId === undefined) return { where: '1 = 1', values: [] };
  const ofAccount = `account_id = $${first}`;
  const isFailed = states?.length === 1 && states[0] === 'failed';
  return { where: isFailed ? `${ofAccount} AND state = 'failed'` : ofAccount, values: [searchable(accountId)] };
}

function matchValues({ states = [], model, kind, channel }: ListFilter): SqlValue[] {
  const wanted = states.length === 0 ? STATES : states;
  return [
    ...STATES.map((state) => (wanted.includes(state) ? state : (wanted[0] ?? state))),
    ...[model, kind, channel].map((value) => (value === undefined ? null : searchable(value))),
  ];
}

/** Reports whether the filter asks only for unfinished tasks, and all of them can be examined at once. */
async function hasFewUnfinished({ sql, unfinishedMax }: StepContext, filter: ListFilter): Promise<boolean> {
  const { states = [] } = filter;
  if (states.length === 0 || !states.every((state) => UNFINISHED.has(state))) return false;
  const { where, values } = chooseUnfinishedIndex(filter, 2);
  const [row] = await sql.read(
    `SELECT COUNT(*) AS count FROM (SELECT id FROM tasks WHERE ${where} LIMIT $1) AS unfinished`,
    [unfinishedMax + 1, ...values],
  );
  return Number(row?.['count'] ?? 0) <= unfinishedMax;
}

/** The unfinished tasks are found apart from all else, so that no plan goes along other tasks for them. */
async function listUnfinished(sql: Sql, filter: ListFilter, page: StepPage): Promise<readonly Task[]> {
  const order: Direction = page.ascending === true ? 'ASC' : 'DESC';
  const { where, values: owner } = chooseUnfinishedIndex(filter, MATCH_VALUES + 1);
  const values = [...matchValues(filter), ...owner];
  const ofAccount = filter.accountId === undefined ? '' : ` AND account_id = $${MATCH_VALUES + 1}`;
  if (owner.length === 0 && filter.accountId !== undefined) values.push(searchable(filter.accountId));
  const within = buildRangeCondition(idRange(filter, page), values);
  values.push(page.limit);
  const rows = await sql.read(
    `WITH unfinished AS MATERIALIZED (
       SELECT id, account_id, state, model, kind, channel, upstream_account FROM tasks WHERE ${where}
     )
     SELECT ${TASK_COLUMNS} FROM tasks WHERE id IN (SELECT id FROM (
       SELECT id FROM unfinished WHERE ${MATCHES}${ofAccount}${within} ORDER BY id ${order} LIMIT $${values.length}
     ) AS page) ORDER BY id ${order}`,
    values,
  );
  return rows.map(fromTaskRow);
}

/** For an owner the index of its states. Operators also see creates, which only the index of all unfinished tasks has. */
function chooseUnfinishedIndex({ accountId, hidden }: ListFilter, first: number): Walk {
  if (hidden === true || accountId === undefined) return { where: 'finished_at IS NULL', values: [] };
  return {
    where: `account_id = $${first} AND state IN ('queued', 'in_progress') AND ${VISIBLE}`,
    values: [searchable(accountId)],
  };
}
