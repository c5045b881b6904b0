import type { VNode } from 'preact';
import type { LedgerCheck, MoneyView as Answer } from '../../api/operator-money.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { moneyText, formatMoney } from '../../parts/number-text.tsx';
import { useView } from '../../state/use-view.ts';
import { booksWords } from './books-words.ts';
import { FilterForm, toDates } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';
import { LedgerState } from './parts/ledger-state.tsx';
import { ContractList } from './parts/contract-list.tsx';
import { MarginTable } from './parts/margin-table.tsx';
import type { Column } from '../../parts/data-table.tsx';

const words = booksWords.money;

const FIELDS: readonly FilterField[] = [
  { name: 'from', label: words.from, type: 'date' },
  { name: 'to', label: words.to, type: 'date' },
];

export function page({ query }: PageProps): VNode {
  const view = useView<Answer>(`/money?${query.toString()}`);
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
      <Loaded view={view}>{(money) => <MoneyView money={money} query={query} onVerified={view.refresh} />}</Loaded>
    </>
  );
}

export interface MoneyViewProps {
  readonly money: Answer;
  readonly query: URLSearchParams;
  readonly onVerified: (check: LedgerCheck) => void;
}

export function MoneyView({ money, query, onVerified }: MoneyViewProps): VNode {
  return (
    <>
      <div class="cards">
        <Held held={money.held} />
        <LedgerState check={money.lastCheck} canVerify={money.canVerify} onVerified={onVerified} />
      </div>
      <h2>{words.period}</h2>
      <FilterForm fields={FIELDS} query={query} defaults={toDates(money)} path="/console/money" />
      <dl class="facts">
        <dt>{words.overruns}</dt>
        <dd>
          {words.overrunText(money.overruns, moneyText(money.overrunAmount, money.held[0]?.balance.currency ?? ''))}
        </dd>
        <dt>{words.lapses}</dt>
        <dd>{words.lapseText(money.lapses)}</dd>
      </dl>
      <h3>{words.margins}</h3>
      <p class="small quiet">{words.marginsNote}</p>
      <MarginTable margins={money.margins} />
      <h3>{words.settled}</h3>
      <DataTable
        caption={words.settled}
        columns={SETTLED_COLUMNS}
        rows={money.settled}
        keyOf={(row: Answer['settled'][number]) => `${row.priceKey} ${row.charged.currency}`}
        empty={words.noSettled}
      />
      <h2>{words.contracts}</h2>
      <ContractList contracts={money.contracts} />
    </>
  );
}

function Held({ held }: { held: Answer['held'] }): VNode {
  if (held.length === 0)
    return (
      <section class="card">
        <p class="quiet">{words.noAccounts}</p>
      </section>
    );
  return (
    <>
      {held.map(({ balance, held: reserved, accounts }) => (
        <section class="card" key={balance.currency}>
          <h2>{words.balance}</h2>
          <p class="figure">{moneyText(balance.amount, balance.currency)}</p>
          <p>
            {words.held}: <strong>{moneyText(reserved.amount, reserved.currency)}</strong>
          </p>
          <p>
            <a href="/console/accounts?order=balance">{words.accounts(accounts)}</a>
          </p>
        </section>
      ))}
    </>
  );
}

type SettledRow = Answer['settled'][number];

const SETTLED_COLUMNS: readonly Column<SettledRow>[] = [
  { name: words.priceKey, isHead: true, cell: ({ priceKey }) => priceKey },
  { name: words.requests, isNumber: true, cell: ({ requests }) => requests.toLocaleString('en') },
  { name: words.charged, isNumber: true, cell: ({ charged }) => formatMoney(charged) },
];
