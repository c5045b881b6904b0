import type { VNode } from 'preact';
import { toCall, useCalls } from '../../state/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { readTime, readWord } from '../../parts/contract-values.ts';
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
import { readJobs, toJobsRequest } from './parts/job-facts.ts';
import type { JobFacts } from './parts/job-facts.ts';

const words = recordWords.jobs;
const PATH = '/console/jobs';

const FIELDS: readonly FilterField[] = [
  { name: 'account', label: words.account, type: 'text' },
  { name: 'state', label: words.state, type: 'select', options: [['', words.any], ...Object.entries(shared.states)] },
];

const COLUMNS: readonly Column<JobFacts>[] = [
  { name: words.created, cell: ({ createdAt }) => <Ago at={readTime(createdAt) ?? 0} /> },
  {
    name: words.job,
    isHead: true,
    cell: ({ id }) => (
      <a class="id" href={`${PATH}/${encodeURIComponent(id)}`}>
        {id}
      </a>
    ),
  },
  { name: words.state, cell: ({ state }) => <StateBadge state={readWord('TASK_STATE_', state)} /> },
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
    cell: ({ createdAt = '', completedAt }) =>
      completedAt === undefined ? '–' : durationText(readTime(completedAt) - readTime(createdAt)),
  },
  { name: words.failure, cell: ({ failure }) => failure?.message ?? '–' },
];

export function page({ query }: PageProps): VNode {
  const view = useCalls({ list: toCall('tasks.OperatorService/ListJobRecords', toJobsRequest(query)) });
  return (
    <>
      <PageTitle title={words.title} lead={words.intro} />
      <FilterForm fields={FIELDS} query={query} path={PATH} />
      <Loaded view={view}>{({ list }) => <JobsView {...readJobs(list.records)} query={query} />}</Loaded>
    </>
  );
}

export interface JobsViewProps {
  readonly jobs: readonly JobFacts[];
  /** The last job; undefined: there is no next page. */
  readonly after: string | undefined;
  readonly query: URLSearchParams;
}

export function JobsView({ jobs, after, query }: JobsViewProps): VNode {
  return (
    <>
      <DataTable caption={words.title} columns={COLUMNS} rows={jobs} keyOf={({ id }) => id} empty={words.empty} />
      <Pager path={PATH} query={query} after={after} />
    </>
  );
}
