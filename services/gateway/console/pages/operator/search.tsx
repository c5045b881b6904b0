import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { RpcAnswer } from '../../api/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Ago } from '../../parts/time.tsx';
import { go } from '../../state/address.ts';
import { useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import { findOnlyPage, listHits, toSearchCalls } from './parts/search-hits.ts';
import type { SearchHit } from './parts/search-hits.ts';
import { searchWords } from './search-words.ts';

const words = searchWords.search;
/** No id is longer, and the field of the status bar takes no more. */
const VALUE_MAX = 256;

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
  // no id has a zero byte, and the contracts refuse one
  const value = (query.get('q') ?? '').replaceAll('\0', '').trim().slice(0, VALUE_MAX);
  return (
    <>
      <PageTitle title={words.title} lead={words.lead} />
      {value === '' ? null : <Results key={value} value={value} />}
    </>
  );
}

function Results({ value }: { value: string }): VNode {
  const wanted = toSearchCalls(value);
  const view = useCalls({}, [], wanted);
  const relayed = useView<RpcAnswer<'tasks.OperatorService/ListChannels'>>('/relay_channels');
  const areRead = relayed.data !== undefined || relayed.error !== undefined;
  const relayChannels = (relayed.data?.channels ?? []).map(({ id }) => id);
  const hits = view.data && areRead ? listHits(value, view.data, relayChannels) : [];
  const href = findOnlyPage(hits);
  useEffect(() => {
    if (href !== undefined) go(href, { replace: true });
  }, [href]);
  return (
    <Loaded view={view} alongside={[relayed]}>
      {(answers) => (
        <SearchView hits={hits} value={value} unread={Object.keys(wanted).filter((place) => !(place in answers))} />
      )}
    </Loaded>
  );
}

export interface SearchViewProps {
  readonly hits: readonly SearchHit[];
  readonly value: string;
  /** The places that could not be searched. */
  readonly unread: readonly string[];
}

export function SearchView({ hits, value, unread }: SearchViewProps): VNode {
  return (
    <>
      {unread.length === 0 ? null : <p class="note">{words.unavailable(unread.join(', '))}</p>}
      <DataTable
        caption={words.found}
        columns={COLUMNS}
        rows={hits}
        keyOf={({ kind, id, by }) => `${kind} ${id} ${by}`}
        empty={<EmptyState title={words.none(value)} text={words.noneHint} />}
      />
    </>
  );
}
