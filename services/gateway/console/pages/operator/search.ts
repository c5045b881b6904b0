import { useEffect } from 'preact/hooks';
import type { SearchHit, SearchAnswer } from '../../api/operator-search.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { DataTable } from '../../parts/data-table.ts';
import type { Column } from '../../parts/data-table.ts';
import { EmptyState } from '../../parts/empty-state.ts';
import { Loaded } from '../../parts/loaded.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { Ago } from '../../parts/time.ts';
import { go } from '../../state/address.ts';
import { useView } from '../../state/use-view.ts';
import { searchWords } from './search-words.ts';

const words = searchWords.search;

const COLUMNS: readonly Column<SearchHit>[] = [
  { name: words.what, cell: ({ kind }) => words.kinds[kind] },
  { name: words.id, isHead: true, cell: ({ id, href }) => html`<a class="id" href=${href}>${id}</a>` },
  { name: words.by, cell: ({ by }) => words.ways[by] },
  { name: words.account, cell: ({ accountId }) => accountId ?? '–' },
  { name: words.model, cell: ({ model }) => model ?? '–' },
  { name: words.created, cell: ({ createdAt }) => (createdAt === undefined ? '–' : html`<${Ago} at=${createdAt} />`) },
];

export function page({ query }: PageProps): VNode {
  const value = query.get('q') ?? '';
  return html`<${PageTitle} title=${words.title} lead=${words.lead} />
    ${value === '' ? null : html`<${Results} key=${value} value=${value} />`}`;
}

function Results({ value }: { value: string }): VNode {
  const view = useView<SearchAnswer>(`/search?q=${encodeURIComponent(value)}`, []);
  const href = view.data?.href;
  useEffect(() => {
    if (href !== undefined) go(href, { replace: true });
  }, [href]);
  return html`<${Loaded} view=${view}>
    ${(answer: SearchAnswer) => html`<${SearchView} answer=${answer} value=${value} />`}
  <//>`;
}

export function SearchView({ answer, value }: { answer: SearchAnswer; value: string }): VNode {
  const { found, unavailable } = answer;
  return html`
    ${unavailable.length === 0 ? null : html`<p class="note">${words.unavailable(unavailable.join(', '))}</p>`}
    <${DataTable}
      caption=${words.found}
      columns=${COLUMNS}
      rows=${found}
      keyOf=${({ kind, id, by }: SearchHit) => `${kind} ${id} ${by}`}
      empty=${html`<${EmptyState} title=${words.none(value)} text=${words.noneHint} />`}
    />
  `;
}
