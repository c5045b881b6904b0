import type { ComponentChildren, VNode } from 'preact';
import { OPERATOR_TASK_FILTERS } from '../../operator-filters.ts';
import type { OperatorTaskFilterName } from '../../operator-filters.ts';
import type { FilterOf } from '../../filters.ts';
import { useSteadyRows } from '../../state/steady-rows.ts';
import { useRead } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { formatNanos, readTime, readWord, toEnumName } from '../../parts/contract-values.ts';
import { NewRows, Pager } from '../../parts/pager.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Ago, At, durationText } from '../../parts/time.tsx';
import { words as shared } from '../../words.ts';
import { recordWords } from './record-words.ts';
import { FilterForm } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';
import type { RpcAnswer, RpcRequest } from '../../api/calls.ts';
import { addDays } from '../../parts/period.ts';
import { ApiError } from '../../state/api.ts';
import { sendCall, toCall } from '../../state/calls.ts';

const words = recordWords.tasks;
const PATH = '/console/tasks';
const NONE = '–';
const PAGE = 50;
const TASK_ID = /^task_[0-9a-v]{26}$/;

type OptionsOf = Readonly<
  Record<FilterOf<typeof OPERATOR_TASK_FILTERS, 'select'>, NonNullable<FilterField['options']>>
>;

const OPTIONS: OptionsOf = {
  state: [['', words.any], ...Object.entries(shared.states)],
  kind: [['', words.any], ...Object.entries(shared.kinds)],
};

const FIELDS = Object.entries(OPERATOR_TASK_FILTERS).map(([key, { type }]): FilterField => {
  const name = key as OperatorTaskFilterName;
  const label = words[name];
  if (type === 'select') return { name, label, type, options: OPTIONS[name as keyof OptionsOf] };
  return type === 'search' ? { name, label, type: 'text', hint: words.findHint } : { name, label, type };
});

/** A task with its charge, if it has one and that can be read now. */
interface TaskRow {
  readonly record: TaskRecord;
  readonly task: Task;
  readonly charge: Charge | undefined;
}
type Task = NonNullable<TaskRecord['task']>;

const COLUMNS: readonly Column<TaskRow>[] = [
  { name: words.created, cell: ({ task: { createdAt } }) => <Ago at={readTime(createdAt) ?? 0} /> },
  {
    name: words.task,
    isHead: true,
    cell: ({ task: { id } }) => (
      <a class="id" href={`${PATH}/${encodeURIComponent(id)}`}>
        {id}
      </a>
    ),
  },
  {
    name: words.state,
    cell: ({ task }) => (
      <>
        <StateBadge state={readWord('TASK_STATE_', task.state)} />
        {formatProgress(task)}
      </>
    ),
  },
  {
    name: words.account,
    cell: ({ task: { accountId } }) => <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>,
  },
  {
    name: words.order,
    cell: ({ task }) => (
      <>
        {task.order?.model}
        <br />
        <span class="small quiet">{orderText(task)}</span>
      </>
    ),
  },
  {
    name: words.channel,
    cell: ({ record: { channel } }) => (channel === '' ? NONE : <span class="id">{channel}</span>),
  },
  {
    name: words.took,
    isNumber: true,
    cell: ({ task: { createdAt, completedAt } }) =>
      completedAt === undefined ? NONE : durationText(readTime(completedAt) - (readTime(createdAt) ?? 0)),
  },
  { name: words.charge, isNumber: true, cell: renderCharge },
];

export function page({ query }: PageProps): VNode {
  // older pages do not change under a reader
  const isLive = !query.has('after');
  const key = `tasks?${query.toString()}`;
  const view = useRead({ key, read: ({ signal }) => findTasks(query, signal) }, isLive ? ['tasks'] : []);
  return (
    <>
      <PageTitle title={words.title} />
      <FilterForm fields={FIELDS} query={query} path={PATH} />
      <Loaded view={view}>{(found) => <TasksView key={key} found={found} query={query} />}</Loaded>
    </>
  );
}

export function TasksView({ found, query }: { found: FoundTasks; query: URLSearchParams }): VNode {
  const { shown, waiting, accept } = useSteadyRows(listRows(found), ({ task }) => task.id);
  const searchedTo = readSearchedTo(found);
  return (
    <>
      <NewRows count={waiting} onAccept={accept} />
      <DataTable
        caption={words.title}
        columns={COLUMNS}
        rows={shown}
        keyOf={({ task }) => task.id}
        empty={searchedTo === undefined ? words.empty : words.emptySoFar}
      />
      {searchedTo === undefined ? null : (
        <p class="quiet">
          {words.searchedTo} <At at={searchedTo} />
        </p>
      )}
      <Pager
        path={PATH}
        query={query}
        after={found.continueAfter || undefined}
        older={searchedTo === undefined ? shared.pages.older : shared.pages.searchOn}
      />
    </>
  );
}

function listRows({ records, charges }: FoundTasks): readonly TaskRow[] {
  const byTask = new Map(charges.map((charge) => [charge.taskId, charge]));
  return records.flatMap((record) => {
    const { task } = record;
    return task === undefined ? [] : [{ record, task, charge: byTask.get(task.id) }];
  });
}

function formatProgress({ state, progress }: Task): string {
  return state === 'TASK_STATE_IN_PROGRESS' && progress > 0 ? ` ${progress} %` : '';
}

function orderText({ order, seconds }: Task): string {
  const kind = order === undefined ? 'generation' : readWord('TASK_KIND_', order.kind);
  const facts = [
    kind === 'generation' ? '' : shared.kinds[kind],
    seconds > 0 ? `${seconds} s` : '',
    order?.resolution ?? '',
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

function renderCharge({ charge, task }: TaskRow): ComponentChildren {
  if (charge === undefined) return NONE;
  const { chargedNanos, heldNanos, basis, currency } = charge;
  if (chargedNanos !== undefined && basis !== 'BASIS_DEFERRED') return formatNanos(chargedNanos, currency);
  const text = words.held(formatNanos(heldNanos, currency));
  return task.state === 'TASK_STATE_FAILED' ? text : <span class="quiet">{text}</span>;
}

export type TaskRecord = RpcAnswer<'tasks.OperatorService/ListTaskRecords'>['records'][number];

export type Charge = RpcAnswer<'billing.BillingService/ListCharges'>['charges'][number];

/** A page of the tasks of every account. */
export interface FoundTasks {
  readonly records: readonly TaskRecord[];
  /** Empty if billing cannot be read now. */
  readonly charges: readonly Charge[];
  /** The last task that was examined; empty if no older ones remain. */
  readonly continueAfter: string;
}

/** Reads a page of tasks and then their charges. A task that is searched by its id is found whatever the filters say. */
async function findTasks(query: URLSearchParams, signal: AbortSignal | undefined): Promise<FoundTasks> {
  const taskId = readTaskId(query);
  const found =
    taskId === undefined
      ? await sendCall(toCall('tasks.OperatorService/ListTaskRecords', toRecordsRequest(query)), signal)
      : { records: await findTask(taskId, signal), continueAfter: '' };
  const { records, continueAfter } = found;
  return { records, continueAfter, charges: await readCharges(records, signal) };
}

/** The task id that is searched; undefined if the search is for something else. */
export function readTaskId(query: URLSearchParams): string | undefined {
  const find = query.get('find') ?? '';
  return TASK_ID.test(find) ? find : undefined;
}

/** The request for a page of tasks. An upstream id is searched without the other filters. */
export function toRecordsRequest(query: URLSearchParams): RpcRequest<'tasks.OperatorService/ListTaskRecords'> {
  const read = (name: string): string => query.get(name) ?? '';
  const shape = { limit: PAGE, brief: true, inSteps: true };
  if (read('find') !== '') return { ...shape, upstreamId: read('find') };
  const [from, to] = [read('from'), read('to')];
  return {
    ...shape,
    ...{ accountId: read('account'), model: read('model'), channel: read('channel'), after: read('after') },
    state: toEnumName('TASK_STATE_', readChoice(query.get('state'), shared.states)),
    kind: toEnumName('TASK_KIND_', readChoice(query.get('kind'), shared.kinds)),
    ...(from === '' ? {} : { createdFrom: addDays(from, 0) }),
    ...(to === '' ? {} : { createdBefore: addDays(to, 1) }),
  };
}

function readChoice<N extends string>(value: string | null, names: Readonly<Record<N, string>>): N | 'unspecified' {
  return (Object.keys(names) as N[]).find((name) => name === value) ?? 'unspecified';
}

async function findTask(taskId: string, signal: AbortSignal | undefined): Promise<readonly TaskRecord[]> {
  try {
    const { record } = await sendCall(toCall('tasks.OperatorService/ShowTask', { taskId }), signal);
    return record === undefined ? [] : [record];
  } catch (error) {
    if (error instanceof ApiError && error.code === 'task_not_found') return [];
    throw error;
  }
}

/** Reads the charges of tasks. The list is shown without them while billing is away. */
async function readCharges(
  records: readonly TaskRecord[],
  signal: AbortSignal | undefined,
): Promise<readonly Charge[]> {
  if (records.length === 0) return [];
  const taskIds = records.map(({ task }) => task?.id ?? '');
  try {
    return (await sendCall(toCall('billing.BillingService/ListCharges', { taskIds }), signal)).charges;
  } catch {
    return [];
  }
}

/**
 * The time back to which an answer has searched; undefined for a full page, and where no older tasks remain. The first
 * ten letters of an id are 48 bits of its time and two others.
 */
export function readSearchedTo({ records, continueAfter }: FoundTasks): number | undefined {
  const letters = /_([0-9a-v]{10})[0-9a-v]{16}$/.exec(continueAfter)?.[1];
  return letters === undefined || records.length === PAGE ? undefined : Math.floor(parseInt(letters, 32) / 4);
}
