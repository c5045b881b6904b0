import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { SearchHit, SearchAnswer } from '../../api/operator-search.ts';
import type { PageProps } from '../../frame.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Ago } from '../../parts/time.tsx';
import { go } from '../../state/address.ts';
import { useView } from '../../state/use-view.ts';
import { searchWords } from './search-words.ts';

const words = searchWords.search;

const COLUMNS: readonly Column<SearchHit>[] = [
  { name: words.what, cell: ({ kind }) => words.kinds[kind] },
  {
    name: words.id,
    isHead: true,
    cell: ({ id, href }) => (
      <a class="id" href={href}>
        {id}
      </a>
    ),
  },
  { name: words.by, cell: ({ by }) => words.ways[by] },
  { name: words.account, cell: ({ accountId }) => accountId ?? '–' },
  { name: words.model, cell: ({ model }) => model ?? '–' },
  { name: words.created, cell: ({ createdAt }) => (createdAt === undefined ? '–' : <Ago at={createdAt} />) },
];

export function page({ query }: PageProps): VNode {
  const value = query.get('q') ?? '';
  return (
    <>
      <PageTitle title={words.title} lead={words.lead} />
      {value === '' ? null : <Results key={value} value={value} />}
    </>
  );
}

function Results({ value }: { value: string }): VNode {
  const view = useView<SearchAnswer>(`/search?q=${encodeURIComponent(value)}`, []);
  const href = view.data?.href;
  useEffect(() => {
    if (href !== undefined) go(href, { replace: true });
  }, [href]);
  return <Loaded view={view}>{(answer) => <SearchView answer={answer} value={value} />}</Loaded>;
}

export function SearchView({ answer, value }: { answer: SearchAnswer; value: string }): VNode {
  const { found, unavailable } = answer;
  return (
    <>
      {unavailable.length === 0 ? null : <p class="note">{words.unavailable(unavailable.join(', '))}</p>}
      <DataTable
        caption={words.found}
        columns={COLUMNS}
        rows={found}
        keyOf={({ kind, id, by }) => `${kind} ${id} ${by}`}
        empty={<EmptyState title={words.none(value)} text={words.noneHint} />}
      />
    </>
  );
}
