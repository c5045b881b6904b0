import type { VNode } from 'preact';
import type { AccountList, AccountRow } from '../../api/operator-accounts.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Pager } from '../../parts/pager.tsx';
import { At } from '../../parts/time.tsx';
import { AmountText } from '../../parts/number-text.tsx';
import { FilterForm } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';
import { booksWords } from './books-words.ts';

const words = booksWords.accounts;
const PATH = '/console/accounts';

const FIELDS: readonly FilterField[] = [
  { name: 'prefix', label: words.prefix, type: 'text' },
  {
    name: 'order',
    label: words.order,
    type: 'select',
    options: [
      ['', words.byId],
      ['balance', words.byBalance],
    ],
  },
];

const COLUMNS: readonly Column<AccountRow>[] = [
  {
    name: words.account,
    isHead: true,
    cell: ({ id }) => <a href={`${PATH}/${encodeURIComponent(id)}`}>{id}</a>,
  },
  { name: words.free, isNumber: true, cell: ({ free }) => <AmountText money={free} /> },
  { name: words.balance, isNumber: true, cell: ({ balance }) => <AmountText money={balance} /> },
  { name: words.held, isNumber: true, cell: ({ held }) => <AmountText money={held} /> },
  { name: words.created, cell: ({ createdAt }) => <At at={createdAt} /> },
];

export function page({ query }: PageProps): VNode {
  const view = useView<AccountList>(`/accounts?${query.toString()}`);
  return (
    <>
      <PageTitle title={words.title} />
      <FilterForm fields={FIELDS} query={query} path={PATH} />
      <Loaded view={view}>{(list) => <AccountsView list={list} query={query} />}</Loaded>
    </>
  );
}

export function AccountsView({ list, query }: { list: AccountList; query: URLSearchParams }): VNode {
  return (
    <>
      <DataTable
        caption={words.title}
        columns={COLUMNS}
        rows={list.accounts}
        keyOf={({ id }) => id}
        empty={words.empty}
      />
      <Pager path={PATH} query={query} after={list.after} older={words.next} />
    </>
  );
}
