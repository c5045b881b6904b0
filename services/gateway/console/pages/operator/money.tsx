import type { VNode } from 'preact';
import type { RpcAnswer } from '../../api/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { formatNanos, readTime } from '../../parts/contract-values.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { DataTable, Facts } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { FaultLine, Loaded } from '../../parts/loaded.tsx';
import { formatCount } from '../../parts/number-text.tsx';
import { parsePeriod, toBounds } from '../../parts/period.ts';
import type { Period } from '../../parts/period.ts';
import { toCall, useCalls, useRpc } from '../../state/calls.ts';
import { serverNow } from '../../state/api.ts';
import { booksWords } from './books-words.ts';
import { FilterForm } from './parts/filter-form.tsx';
import type { FilterField } from './parts/filter-form.tsx';
import { ContractList } from './parts/contract-list.tsx';
import { MarginTable } from './parts/margin-table.tsx';
import { useOperator } from './parts/use-operator.ts';
import { announce } from '../../state/announce.ts';
import { Ago, spanText } from '../../parts/time.tsx';
import { operatorWords } from './operator-words.ts';

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
      <Facts
        facts={[
          [words.overruns, words.overrunText(Number(overruns), formatNanos(overrunNanos, held[0]?.currency ?? ''))],
          [words.lapses, words.lapseText(Number(lapses))],
        ]}
      />
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

type LedgerCheck = NonNullable<RpcAnswer<'billing.AccountService/GetMoney'>['lastCheck']>;

interface LedgerStateProps {
  /** The last check that is kept; undefined if the ledger was never checked. */
  readonly check: LedgerCheck | undefined;
  readonly canVerify: boolean;
  readonly onVerified: () => void;
}

/** Shows the outcome of the last check of the ledger, and a way to check it now. */
function LedgerState({ check, canVerify, onVerified }: LedgerStateProps): VNode {
  const { act, isBusy, fault, answer } = useRpc('billing.AccountService/VerifyLedger', ({ ok }) => {
    announce(ok ? words.passed : words.failed);
    onVerified();
  });
  return (
    <section class="card">
      <h2>{words.ledger}</h2>
      {check === undefined ? <p class="quiet">{words.neverChecked}</p> : <Check check={check} />}
      {answer === undefined || answer.ok || check?.ok === false ? null : <Faults faults={answer.faults} />}
      <div class="actions">
        <button type="button" disabled={!canVerify || isBusy} aria-describedby="verify-note" onClick={() => act({})}>
          {isBusy ? words.verifying : words.verify}
        </button>
      </div>
      <p id="verify-note" class="small quiet">
        {canVerify ? words.verifyHint : operatorWords.needsRole('treasurer', words.needed)}
      </p>
      <FaultLine text={fault?.message} />
    </section>
  );
}

function Check({ check: { ok, at = '', tookMs, entries, faults, actor } }: { check: LedgerCheck }): VNode {
  return (
    <>
      <p class={ok ? 'good' : 'bad'}>
        <span aria-hidden="true">{ok ? '●' : '✕'}</span> {ok ? words.passed : words.failed}
      </p>
      <p class="small quiet">
        <Ago at={readTime(at)} />
        {words.checkFacts(actor, Number(entries), spanText(Number(tookMs)))}
      </p>
      <Faults faults={faults} />
    </>
  );
}

function Faults({ faults }: { faults: readonly string[] }): VNode | null {
  return faults.length === 0 ? null : (
    <ul class="error-text">
      {faults.map((fault) => (
        <li key={fault}>{fault}</li>
      ))}
    </ul>
  );
}
