import type { AccountList, AccountRow } from '../../api/operator-accounts.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { DataTable } from '../../parts/data-table.ts';
import type { Column } from '../../parts/data-table.ts';
import { Loaded } from '../../parts/loaded.ts';
import { Pager } from '../../parts/pager.ts';
import { At } from '../../parts/time.ts';
import { AmountText } from '../../parts/number-text.ts';
import { FilterForm } from './parts/filter-form.ts';
import type { FilterField } from './parts/filter-form.ts';
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
    cell: ({ id }) => html`<a href=${`${PATH}/${encodeURIComponent(id)}`}>${id}</a>`,
  },
  { name: words.free, isNumber: true, cell: ({ free }) => html`<${AmountText} money=${free} />` },
  { name: words.balance, isNumber: true, cell: ({ balance }) => html`<${AmountText} money=${balance} />` },
  { name: words.held, isNumber: true, cell: ({ held }) => html`<${AmountText} money=${held} />` },
  { name: words.created, cell: ({ createdAt }) => html`<${At} at=${createdAt} />` },
];

export function page({ query }: PageProps): VNode {
  const view = useView<AccountList>(`/accounts?${query.toString()}`);
  return html`<${PageTitle} title=${words.title} />
    <${FilterForm} fields=${FIELDS} query=${query} path=${PATH} />
    <${Loaded} view=${view}>${(list: AccountList) => html`<${AccountsView} list=${list} query=${query} />`}<//>`;
}

export function AccountsView({ list, query }: { list: AccountList; query: URLSearchParams }): VNode {
  return html`
    <${DataTable}
      caption=${words.title}
      columns=${COLUMNS}
      rows=${list.accounts}
      keyOf=${({ id }: AccountRow) => id}
      empty=${words.empty}
    />
    <${Pager} path=${PATH} query=${query} after=${list.after} older=${words.next} />
  `;
}
