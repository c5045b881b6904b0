import type { ComponentChildren, VNode } from 'preact';
import { OPERATOR_TASK_FILTERS } from '../../operator-filters.ts';
import type { OperatorTaskFilterName } from '../../operator-filters.ts';
import type { FilterOf } from '../../filters.ts';
import type { OperatorTaskList, OperatorTaskRow } from '../../api/operator-tasks.ts';
import { useSteadyRows } from '../../state/steady-rows.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { moneyText } from '../../parts/number-text.tsx';
import { NewRows, Pager } from '../../parts/pager.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Ago, At, durationText } from '../../parts/time.tsx';
import { words as shared } from '../../words.ts';
import { recordWords } from './record-words.ts';
import { FilterForm } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';

const words = recordWords.tasks;
const PATH = '/console/tasks';
const NONE = '–';

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

const COLUMNS: readonly Column<OperatorTaskRow>[] = [
  { name: words.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    name: words.task,
    isHead: true,
    cell: ({ id }) => (
      <a class="id" href={`${PATH}/${encodeURIComponent(id)}`}>
        {id}
      </a>
    ),
  },
  {
    name: words.state,
    cell: (row) => (
      <>
        <StateBadge state={row.state} />
        {formatProgress(row)}
      </>
    ),
  },
  {
    name: words.account,
    cell: ({ accountId }) => <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>,
  },
  {
    name: words.order,
    cell: ({ kind, model, seconds, resolution }) => (
      <>
        {model}
        <br />
        <span class="small quiet">{orderText(kind, seconds, resolution)}</span>
      </>
    ),
  },
  { name: words.channel, cell: ({ channel }) => (channel === '' ? NONE : <span class="id">{channel}</span>) },
  {
    name: words.took,
    isNumber: true,
    cell: ({ createdAt, endedAt }) => (endedAt === undefined ? NONE : durationText(endedAt - createdAt)),
  },
  { name: words.charge, isNumber: true, cell: renderCharge },
];

export function page({ query }: PageProps): VNode {
  // older pages do not change under a reader
  const isLive = !query.has('after');
  const path = `/tasks?${query.toString()}`;
  const view = useView<OperatorTaskList>(path, isLive ? ['tasks'] : []);
  return (
    <>
      <PageTitle title={words.title} />
      <FilterForm fields={FIELDS} query={query} path={PATH} />
      <Loaded view={view}>{(list) => <TasksView key={path} list={list} query={query} />}</Loaded>
    </>
  );
}

export function TasksView({ list, query }: { list: OperatorTaskList; query: URLSearchParams }): VNode {
  const { shown, waiting, accept } = useSteadyRows(list.tasks, ({ id }) => id);
  const { after, searchedTo } = list;
  return (
    <>
      <NewRows count={waiting} onAccept={accept} />
      <DataTable
        caption={words.title}
        columns={COLUMNS}
        rows={shown}
        keyOf={({ id }) => id}
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
        after={after}
        older={searchedTo === undefined ? shared.pages.older : shared.pages.searchOn}
      />
    </>
  );
}

function formatProgress({ state, progress }: OperatorTaskRow): string {
  return state === 'in_progress' && progress > 0 ? ` ${progress} %` : '';
}

function orderText(kind: OperatorTaskRow['kind'], seconds: number, resolution: string): string {
  const facts = [kind === 'generation' ? '' : shared.kinds[kind], seconds > 0 ? `${seconds} s` : '', resolution];
  return facts.filter((fact) => fact !== '').join(' · ');
}

function renderCharge({ charge, failure }: OperatorTaskRow): ComponentChildren {
  if (charge === undefined) return NONE;
  const { charged, held } = charge;
  if (charged !== undefined) return moneyText(charged.amount, charged.currency);
  const text = words.held(moneyText(held.amount, held.currency));
  return failure === undefined ? <span class="quiet">{text}</span> : text;
}
