import type { VNode } from 'preact';
import type { RpcAnswer } from '../../api/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { formatNanos } from '../../parts/contract-values.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { formatCount } from '../../parts/number-text.tsx';
import { parsePeriod, toBounds } from '../../parts/period.ts';
import type { Period } from '../../parts/period.ts';
import { toCall, useCalls } from '../../state/calls.ts';
import { serverNow } from '../../state/api.ts';
import { booksWords } from './books-words.ts';
import { FilterForm } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';
import { LedgerState } from './parts/ledger-state.tsx';
import { ContractList } from './parts/contract-list.tsx';
import { MarginTable } from './parts/margin-table.tsx';
import { useOperator } from './parts/use-operator.ts';
import type { Column } from '../../parts/data-table.tsx';

const words = booksWords.money;

const FIELDS: readonly FilterField[] = [
  { name: 'from', label: words.from, type: 'date' },
  { name: 'to', label: words.to, type: 'date' },
];

type Money = RpcAnswer<'billing.AccountService/GetMoney'>;
type Contracts = RpcAnswer<'billing.AccountService/ListPrices'>['contracts'];

export function page({ query }: PageProps): VNode {
  const period = parsePeriod(query, serverNow());
  const view = useCalls({
    money: toCall('billing.AccountService/GetMoney', toBounds(period)),
    prices: toCall('billing.AccountService/ListPrices', {}),
  });
  const canVerify = useOperator().covers('treasurer');
  return (
    <>
      <PageTitle
        title={words.title}
        actions={
          <a class="button" href="/console/money/margins">
            {words.overTime}
          </a>
        }
      />
      <Loaded view={view}>
        {({ money, prices: { contracts } }) => (
          <MoneyView {...{ money, contracts, period, query, canVerify }} onVerified={view.refresh} />
        )}
      </Loaded>
    </>
  );
}

export interface MoneyViewProps {
  readonly money: Money;
  readonly contracts: Contracts;
  readonly period: Period;
  readonly query: URLSearchParams;
  /** True if the operator may have the ledger checked. */
  readonly canVerify: boolean;
  readonly onVerified: () => void;
}

export function MoneyView({ money, contracts, period, query, canVerify, onVerified }: MoneyViewProps): VNode {
  const { held, overruns, overrunNanos, lapses } = money;
  return (
    <>
      <div class="cards">
        <Held held={held} />
        <LedgerState check={money.lastCheck} canVerify={canVerify} onVerified={onVerified} />
      </div>
      <h2>{words.period}</h2>
      <FilterForm fields={FIELDS} query={query} defaults={{ ...period }} path="/console/money" />
      <dl class="facts">
        <dt>{words.overruns}</dt>
        <dd>{words.overrunText(Number(overruns), formatNanos(overrunNanos, held[0]?.currency ?? ''))}</dd>
        <dt>{words.lapses}</dt>
        <dd>{words.lapseText(Number(lapses))}</dd>
      </dl>
      <h3>{words.margins}</h3>
      <p class="small quiet">{words.marginsNote}</p>
      <MarginTable margins={money.margins} />
      <h3>{words.settled}</h3>
      <DataTable
        caption={words.settled}
        columns={SETTLED_COLUMNS}
        rows={money.settled}
        keyOf={(row: SettledRow) => `${row.priceKey} ${row.currency}`}
        empty={words.noSettled}
      />
      <h2>{words.contracts}</h2>
      <ContractList contracts={contracts} />
    </>
  );
}

function Held({ held }: { held: Money['held'] }): VNode {
  if (held.length === 0)
    return (
      <section class="card">
        <p class="quiet">{words.noAccounts}</p>
      </section>
    );
  return (
    <>
      {held.map(({ currency, balanceNanos, heldNanos, accounts }) => (
        <section class="card" key={currency}>
          <h2>{words.balance}</h2>
          <p class="figure">{formatNanos(balanceNanos, currency)}</p>
          <p>
            {words.held}: <strong>{formatNanos(heldNanos, currency)}</strong>
          </p>
          <p>
            <a href="/console/accounts?order=balance">{words.accounts(Number(accounts))}</a>
          </p>
        </section>
      ))}
    </>
  );
}

type SettledRow = Money['settled'][number];

const SETTLED_COLUMNS: readonly Column<SettledRow>[] = [
  { name: words.priceKey, isHead: true, cell: ({ priceKey }) => priceKey },
  { name: words.requests, isNumber: true, cell: ({ requests }) => formatCount(requests) },
  {
    name: words.charged,
    isNumber: true,
    cell: ({ chargedNanos, currency }) => formatNanos(chargedNanos, currency),
  },
];
