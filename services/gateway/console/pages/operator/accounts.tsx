import type { VNode } from 'preact';
import type { RpcAnswer } from '../../api/calls.ts';
import type { Money } from '../../api/money.ts';
import { readTime, toMoney } from '../../parts/contract-values.ts';
import { toCall, useCalls } from '../../state/calls.ts';
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
const PAGE = 50;

type AccountList = RpcAnswer<'billing.AccountService/ListAccounts'>;
type AccountRow = AccountList['accounts'][number];

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
  { name: words.free, isNumber: true, cell: (account) => <AmountText money={readFree(account)} /> },
  {
    name: words.balance,
    isNumber: true,
    cell: ({ balanceNanos, currency }) => <AmountText money={toMoney(balanceNanos, currency)} />,
  },
  {
    name: words.held,
    isNumber: true,
    cell: ({ heldNanos, currency }) => <AmountText money={toMoney(heldNanos, currency)} />,
  },
  { name: words.created, cell: ({ createdAt }) => <At at={readTime(createdAt) ?? 0} /> },
];

export function page({ query }: PageProps): VNode {
  const view = useCalls({
    list: toCall('billing.AccountService/ListAccounts', {
      ...{ limit: PAGE, prefix: query.get('prefix') ?? '', after: query.get('after') ?? '' },
      order: isByBalance(query) ? 'ACCOUNT_ORDER_BALANCE' : 'ACCOUNT_ORDER_ID',
    }),
  });
  return (
    <>
      <PageTitle title={words.title} />
      <FilterForm fields={FIELDS} query={query} path={PATH} />
      <Loaded view={view}>{({ list }) => <AccountsView list={list} query={query} />}</Loaded>
    </>
  );
}

export function AccountsView({ list, query }: { list: AccountList; query: URLSearchParams }): VNode {
  const { accounts, hasMore } = list;
  // by balance there is one page
  const after = hasMore && !isByBalance(query) ? accounts.at(-1)?.id : undefined;
  return (
    <>
      <DataTable caption={words.title} columns={COLUMNS} rows={accounts} keyOf={({ id }) => id} empty={words.empty} />
      <Pager path={PATH} query={query} after={after} older={words.next} />
    </>
  );
}

function isByBalance(query: URLSearchParams): boolean {
  return query.get('order') === 'balance';
}

/** The money of an account that is not held. */
export function readFree({ balanceNanos, heldNanos, currency }: AccountRow): Money {
  return toMoney(BigInt(balanceNanos) - BigInt(heldNanos), currency);
}
