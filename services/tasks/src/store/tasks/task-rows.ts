import type { SqlValue } from '@reelgate/platform/sql/sql';
import { firstIdAt } from '@reelgate/platform/ids';
import type { Annotations } from '../../domain/annotations.ts';
import type { Doubt, Mapping, State, Task, TaskOrigin } from '../../domain/task.ts';
import {
  inColumns,
  inFlag,
  inJson,
  inNumber,
  inOptionalJson,
  inOptionalNumber,
  inOptionalText,
  inText,
  recordColumns,
  searchable,
} from '../columns.ts';
import type { Fields } from '../columns.ts';
import type { ListFilter, Page } from '../task-store.ts';

/**
 * The condition for tasks that an upstream has or may have, or that wait for one. The condition of an index has the same
 * text.
 */
export const ADMITTED = "admission IN ('accepted', 'unknown', 'waiting')";

/** The condition for tasks that the owner may see. */
export const VISIBLE = `${ADMITTED} AND deleted_at IS NULL`;

export const UNFINISHED = "state IN ('queued', 'in_progress')";

/** Tasks and batches have columns of the same names. */
export const ANNOTATION_FIELDS: Fields<Annotations> = { label: inOptionalText('label') };

const ORIGIN_FIELDS: Fields<TaskOrigin> = {
  id: inText('id'),
  accountId: inText('account_id'),
  tokenId: inText('token_id'),
  order: inJson('order_json'),
  ...ANNOTATION_FIELDS,
  seconds: inNumber('seconds'),
  createdAt: inNumber('created_at'),
  requestId: inOptionalText('request_id'),
  trace: inOptionalText('trace'),
  traceParent: inOptionalText('trace_parent'),
};

/** The part of a task that its create writes. */
export const ORIGIN = recordColumns(ORIGIN_FIELDS);

const DOUBT = recordColumns<Doubt>({ reason: inText('doubt'), polls: inNumber('doubt_polls') });
const MAPPING = recordColumns<Mapping>({
  channel: inText('channel'),
  upstreamAccount: inText('upstream_account'),
  upstreamId: inOptionalText('upstream_id'),
});

/** The members of a task that hold texts and results. */
export const CONTENT_FIELDS = {
  accountId: ORIGIN_FIELDS.accountId,
  order: ORIGIN_FIELDS.order,
  result: inOptionalJson('result_json'),
  failure: inOptionalJson('failure_json'),
} satisfies Partial<Fields<Task>>;

/** The columns of a task, by its members. */
export const TASK = recordColumns<Task>({
  ...ORIGIN_FIELDS,
  ...CONTENT_FIELDS,
  admission: inText('admission'),
  state: inText('state'),
  upstreamStatus: inOptionalText('upstream_status'),
  unrecognised: inFlag('unrecognised'),
  progress: inNumber('progress'),
  updatedAt: inNumber('updated_at'),
  finishedAt: inOptionalNumber('finished_at'),
  expiresAt: inOptionalNumber('expires_at'),
  // Before an upstream has the work, the channel alone is set.
  mapping: inColumns(MAPPING, 'upstream_account'),
  staged: inOptionalJson('staged_json'),
  usage: inOptionalJson('usage_json'),
  upstreamCostMicroUsd: inOptionalNumber('upstream_cost_micro_usd'),
  nextPollAt: inOptionalNumber('next_poll_at'),
  pollErrors: inNumber('poll_errors'),
  doubt: inColumns(DOUBT, 'doubt', { doubt: null, doubt_polls: 0 }),
  polls: inNumber('polls'),
  pollSpans: inNumber('poll_spans'),
  resumed: inFlag('resumed'),
});

export const STATES: readonly State[] = ['queued', 'in_progress', 'completed', 'failed'];

/** Adds a value to a statement, and returns its parameter. */
export type Bind = (value: SqlValue) => string;

/** The columns that a member of a filter compares, and its condition, which is empty if the member is absent. */
interface Condition<T> {
  readonly columns: readonly string[];
  readonly where: (wanted: T, bind: Bind) => string;
}

/** The times of creation are compared as ids. */
type ComparedFilter = Omit<ListFilter, keyof CreationTimes>;
type Conditions = { readonly [F in keyof Required<ComparedFilter>]: Condition<ComparedFilter[F]> };

export interface CreationTimes {
  readonly createdFrom?: number | undefined;
  readonly createdBefore?: number | undefined;
}

/** The conditions of every list. A member of the filter without one does not compile. */
const CONDITIONS: Conditions = {
  hidden: { columns: ['admission', 'deleted_at'], where: (hidden) => (hidden === true ? '' : VISIBLE) },
  accountId: {
    columns: ['account_id'],
    where: (accountId, bind) => (accountId === undefined ? '' : `account_id = ${bind(searchable(accountId))}`),
  },
  taskIds: { columns: [], where: (ids = [], bind) => (ids.length === 0 ? '' : isAmong('id', ids, bind)) },
  upstream: {
    columns: [],
    where: (upstream, bind) => {
      if (upstream === undefined) return '';
      if (upstream.accounts.length === 0) return '1 = 0';
      return `${isAmong('upstream_account', upstream.accounts, bind)} AND upstream_id = ${bind(searchable(upstream.id))}`;
    },
  },
  // With as many values as there are states: one text for any of them.
  states: {
    columns: ['state'],
    where: (states = [], bind) => {
      const wanted = states.length === 0 ? STATES : states;
      const padded = STATES.map((state) => (wanted.includes(state) ? state : (wanted[0] ?? state)));
      return isAmong('state', padded, bind);
    },
  },
  model: equalsIfGiven('model'),
  tokenId: equalsIfGiven('token_id'),
  // Alone, because an index has only the tasks with a label.
  label: {
    columns: ['label'],
    where: (label, bind) => (label === undefined ? '' : `label = ${bind(searchable(label))}`),
  },
  prompt: {
    columns: [],
    where: (prompt, bind) => {
      if (prompt === undefined) return '';
      const { whole, beginning } = prompt;
      const patterns = [...whole.map((word) => `%|${word}|%`), ...(beginning === undefined ? [] : [`%|${beginning}%`])];
      const compared = patterns.map((pattern) => `words LIKE ${bind(pattern)}`).join(' AND ');
      return `EXISTS (SELECT 1 FROM read_prompts WHERE task_id = id AND ${compared})`;
    },
  },
  kind: equalsIfGiven('kind'),
  channel: equalsIfGiven('channel', ' AND upstream_account IS NOT NULL'),
};

const CONDITION_MEMBERS = Object.keys(CONDITIONS) as (keyof ComparedFilter)[];
/** The columns that the conditions of a list compare. */
export const COMPARED_COLUMNS = [
  'id',
  'upstream_account',
  ...Object.values(CONDITIONS).flatMap(({ columns }) => columns),
];

function isAmong(column: string, values: readonly string[], bind: Bind): string {
  return `${column} IN (${values.map((value) => bind(searchable(value))).join(', ')})`;
}

/** One text, whether the member is given or not: only the rows that an index gives are compared with it. */
function equalsIfGiven(column: string, also = ''): Condition<string | undefined> {
  return {
    columns: [column],
    where: (wanted, bind) => {
      const parameter = bind(wanted === undefined ? null : searchable(wanted));
      return `(CAST(${parameter} AS TEXT) IS NULL OR (${column} = ${parameter}${also}))`;
    },
  };
}

/** The condition of a filter without its times. */
export function buildConditions(filter: ComparedFilter, bind: Bind): string {
  const build = <F extends keyof ComparedFilter>(member: F): string => {
    const condition: Condition<ComparedFilter[F]> = CONDITIONS[member];
    return condition.where(filter[member], bind);
  };
  return CONDITION_MEMBERS.map(build)
    .filter((part) => part !== '')
    .join(' AND ');
}

/** Values of a statement, in the order of their parameters. */
export function newValues(...first: readonly SqlValue[]): { readonly values: SqlValue[]; readonly bind: Bind } {
  const values = [...first];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** The ids of a page, without both bounds. */
export interface IdRange {
  readonly above?: string | undefined;
  readonly below?: string | undefined;
}

/** Ids sort by the time of creation, so times are ids. */
export function toIdRange(
  { createdFrom, createdBefore }: CreationTimes,
  { after, ascending = false }: StepPage,
): IdRange {
  const from = createdFrom === undefined ? [] : [firstIdAt('task', createdFrom)];
  const before = createdBefore === undefined ? [] : [firstIdAt('task', createdBefore)];
  const position = after === undefined ? [] : [after];
  return {
    above: [...from, ...(ascending ? position : [])].toSorted().at(-1),
    below: [...before, ...(ascending ? [] : position)].toSorted().at(0),
  };
}

export function buildRange({ above, below }: IdRange, bind: Bind, column = 'id'): string {
  const isAbove = above === undefined ? '' : ` AND ${column} > ${bind(searchable(above))}`;
  return below === undefined ? isAbove : `${isAbove} AND ${column} < ${bind(searchable(below))}`;
}

export type StepPage = Omit<Page, 'offset'>;
export type Direction = 'ASC' | 'DESC';

export function toDirection({ ascending = false }: StepPage): Direction {
  return ascending ? 'ASC' : 'DESC';
}
