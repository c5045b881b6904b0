import type { VNode } from 'preact';
import type { JobList, JobRow } from '../../api/operator-jobs.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Pager } from '../../parts/pager.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import { Ago, durationText } from '../../parts/time.tsx';
import { words as shared } from '../../words.ts';
import { recordWords } from './record-words.ts';
import { FilterForm } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';

const words = recordWords.jobs;
const PATH = '/console/jobs';

const FIELDS: readonly FilterField[] = [
  { name: 'account', label: words.account, type: 'text' },
  { name: 'state', label: words.state, type: 'select', options: [['', words.any], ...Object.entries(shared.states)] },
];

const COLUMNS: readonly Column<JobRow>[] = [
  { name: words.created, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  {
    name: words.job,
    isHead: true,
    cell: ({ id }) => (
      <a class="id" href={`${PATH}/${encodeURIComponent(id)}`}>
        {id}
      </a>
    ),
  },
  { name: words.state, cell: ({ state }) => <StateBadge state={state} /> },
  {
    name: words.account,
    cell: ({ accountId }) => <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>,
  },
  { name: words.endpoint, cell: ({ endpoint }) => endpoint },
  { name: words.model, cell: ({ model }) => model },
  { name: words.starts, isNumber: true, cell: ({ starts }) => starts },
  {
    name: words.took,
    isNumber: true,
    cell: ({ createdAt, endedAt }) => (endedAt === undefined ? '–' : durationText(endedAt - createdAt)),
  },
  { name: words.failure, cell: ({ failure }) => failure?.message ?? '–' },
];

export function page({ query }: PageProps): VNode {
  const view = useView<JobList>(`/jobs?${query.toString()}`);
  return (
    <>
      <PageTitle title={words.title} lead={words.intro} />
      <FilterForm fields={FIELDS} query={query} path={PATH} />
      <Loaded view={view}>{(list) => <JobsView list={list} query={query} />}</Loaded>
    </>
  );
}

export function JobsView({ list, query }: { list: JobList; query: URLSearchParams }): VNode {
  return (
    <>
      <DataTable caption={words.title} columns={COLUMNS} rows={list.jobs} keyOf={({ id }) => id} empty={words.empty} />
      <Pager path={PATH} query={query} after={list.after} />
    </>
  );
}
