import type { Sql } from '@reelgate/platform/sql/sql';
import type { State, Task } from '../../domain/task.ts';
import { countFrom, searchable, text } from '../columns.ts';
import type { ListFilter, StepStore, TaskCount, TaskLister, TaskStep } from '../task-store.ts';
import {
  buildRange,
  newValues,
  toDirection,
  toIdRange,
  COMPARED_COLUMNS,
  TASK,
  VISIBLE,
  buildConditions,
} from './task-rows.ts';
import type { Direction, IdRange, StepPage, Bind } from './task-rows.ts';
import { buildWordWalk, findWordWalk } from './sql-word-walks.ts';
import type { WordWalk } from './sql-word-walks.ts';

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
      if (isNamed(filter)) return toTaskStep(await reads.list(filter, onePageMore), page);
      if (await hasFewUnfinished(on, filter)) return toTaskStep(await listUnfinished(sql, filter, onePageMore), page);
      return examine(on, filter, page);
    },
    countStep: async (filter, max) => {
      const page = { limit: max };
      if (isNamed(filter)) return toTaskCount((await reads.list(filter, { limit: max + 1 })).length, max);
      if (await hasFewUnfinished(on, filter)) return toTaskCount(await countUnfinished(sql, filter, max + 1), max);
      const walk = await findWalk(on, filter, page);
      if (walk === 'none') return toTaskCount(0, max);
      const { values, bind } = newValues();
      const { before, where } = buildWalk(filter, page, walk, bind);
      const [row] = await sql.read(
        // the order leads the plan along the ids of the walk, and not along the states of all tasks
        `${before} SELECT COUNT(*) AS count FROM (
           SELECT id FROM tasks WHERE ${where} ORDER BY id DESC LIMIT ${bind(max + 1)}
         ) AS found`,
        values,
      );
      return toTaskCount(Number(row?.['count'] ?? 0), max, walk.last === undefined);
    },
  };
}

function isNamed({ upstream, taskIds = [] }: ListFilter): boolean {
  return upstream !== undefined || taskIds.length > 0;
}

/** `isWhole`: every task was examined. */
function toTaskCount(found: number, max: number, isWhole = true): TaskCount {
  return { count: Math.min(found, max), isWhole: isWhole && found <= max };
}

/** A page of one task more than it may have, so that it is known whether more follow. */
function toTaskStep(found: readonly Task[], { limit }: StepPage): TaskStep {
  const tasks = found.slice(0, limit);
  return { tasks, continueAfter: found.length > limit ? tasks.at(-1)?.id : undefined };
}

/** The tasks that one answer examines. */
interface Walk {
  readonly range: IdRange;
  /** The last one, if more follow it. */
  readonly last: string | undefined;
  /** Set if they are found by words. */
  readonly words?: WordWalk;
}

/** Examines the next tasks of an account, of all accounts, of its failures, of a label of it, or of some words. */
async function examine(on: StepContext, filter: ListFilter, page: StepPage): Promise<TaskStep> {
  const walk = await findWalk(on, filter, page);
  if (walk === 'none') return { tasks: [] };
  const { values, bind } = newValues();
  const { before, where } = buildWalk(filter, page, walk, bind);
  const rows = await on.sql.read(
    `${before} SELECT ${TASK.list} FROM tasks WHERE ${where} ORDER BY id ${toDirection(page)} LIMIT ${bind(page.limit + 1)}`,
    values,
  );
  const { tasks, continueAfter = walk.last } = toTaskStep(rows.map(TASK.read), page);
  return { tasks, continueAfter };
}

/** `none` if no task has the words. */
async function findWalk(on: StepContext, filter: ListFilter, page: StepPage): Promise<Walk | 'none'> {
  const range = toIdRange(filter, page);
  const order = toDirection(page);
  const { accountId, prompt } = filter;
  if (accountId === undefined || prompt === undefined)
    return { range, last: await findLastExamined(on, filter, range, order) };
  const words = await findWordWalk({ ...on, accountId, range, order }, prompt);
  return words === undefined ? 'none' : { range, last: words.last, words };
}

/** The conditions of the tasks of a walk, and the clauses before their statement. */
function buildWalk(filter: ListFilter, page: StepPage, { range, last, words }: Walk, bind: Bind) {
  const order = toDirection(page);
  const where = buildConditions(filter, bind);
  if (words !== undefined) {
    const { before, among } = buildWordWalk(words, { range, order }, bind);
    return { before, where: `${among} AND ${where}` };
  }
  const within = buildRange(last === undefined ? range : withoutFarEnd(range, order), bind);
  const end = last === undefined ? '' : ` AND id ${order === 'ASC' ? '<=' : '>='} ${bind(last)}`;
  const bounds = `${within}${end}`;
  if (!isOfFailures(filter)) return { before: '', where: `${where}${bounds}` };
  // without any bound SQLite would go along all tasks of the account for them
  return { before: '', where: `${where}${FAILED}${bounds === '' ? " AND id > ''" : bounds}` };
}

/** Without the far end, which the bound replaces. SQLite would search the index by the wider one of the two. */
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
  const walk = owned + narrowWalk(filter, bind) + buildRange(range, bind);
  const [last, next] = await sql.read(
    `SELECT id FROM tasks WHERE ${walk} ORDER BY id ${order} LIMIT 2 OFFSET ${bind(examinedMax - 1)}`,
    values,
  );
  return next === undefined ? undefined : text(last?.['id']);
}

/** The tasks of a label of an account have an index, and so have its failures. */
function narrowWalk(filter: ListFilter, bind: Bind): string {
  const { accountId, label } = filter;
  if (accountId !== undefined && label !== undefined) return ` AND label = ${bind(searchable(label))}`;
  return isOfFailures(filter) ? FAILED : '';
}

const FAILED = " AND state = 'failed'";

/**
 * Failures are few among the tasks of an account. Their index is partial, and asked for by a literal. With a label, the
 * walk goes along its tasks.
 */
function isOfFailures({ accountId, states, label }: ListFilter): boolean {
  return accountId !== undefined && label === undefined && states?.length === 1 && states[0] === 'failed';
}

/** Reports whether the filter asks only for unfinished tasks, and all of them can be examined at once. */
async function hasFewUnfinished({ sql, unfinishedMax }: StepContext, filter: ListFilter): Promise<boolean> {
  const { states = [] } = filter;
  if (states.length === 0 || !states.every((state) => UNFINISHED.has(state))) return false;
  const { values, bind } = newValues(unfinishedMax + 1);
  const unfinished = `SELECT id FROM tasks WHERE ${chooseUnfinishedIndex(filter, bind)} LIMIT $1`;
  return (await countFrom(sql.read, `(${unfinished}) AS unfinished`, values)) <= unfinishedMax;
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

async function countUnfinished(sql: Sql, filter: ListFilter, limit: number): Promise<number> {
  const { values, bind } = newValues();
  const unfinished = chooseUnfinishedIndex(filter, bind);
  const where = buildConditions(filter, bind) + buildRange(toIdRange(filter, { limit }), bind);
  const [row] = await sql.read(
    `WITH unfinished AS MATERIALIZED (SELECT ${COMPARED_COLUMNS.join(', ')} FROM tasks WHERE ${unfinished})
     SELECT COUNT(*) AS count FROM (SELECT id FROM unfinished WHERE ${where} LIMIT ${bind(limit)}) AS found`,
    values,
  );
  return Number(row?.['count'] ?? 0);
}

/**
 * For an owner the index of its states. Operators also see creates, which only the index of all unfinished tasks has.
 */
function chooseUnfinishedIndex({ accountId, hidden }: ListFilter, bind: Bind): string {
  return hidden === true || accountId === undefined
    ? 'finished_at IS NULL'
    : `account_id = ${bind(searchable(accountId))} AND state IN ('queued', 'in_progress') AND ${VISIBLE}`;
}
