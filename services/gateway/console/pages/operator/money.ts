import type { ContractRow, CostPart, LedgerCheck, MoneyView as Answer } from '../../api/operator-money.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { DataTable } from '../../parts/data-table.ts';
import { Loaded } from '../../parts/loaded.ts';
import { moneyText, shareText, sumDecimals, formatMoney } from '../../parts/number-text.ts';
import { At } from '../../parts/time.ts';
import { useView } from '../../state/use-view.ts';
import { operatorWords } from './operator-words.ts';
import { FilterForm } from './parts/filter-form.ts';
import type { FilterField } from './parts/filter-form.ts';
import { LedgerState } from './parts/ledger-state.ts';
import { listLeaves } from './parts/value-tree.ts';
import type { Money } from '../../api/money.ts';
import type { Column } from '../../parts/data-table.ts';

const words = operatorWords.money;

const FIELDS: readonly FilterField[] = [
  { name: 'from', label: words.from, type: 'date' },
  { name: 'to', label: words.to, type: 'date' },
];

export function page({ query }: PageProps): VNode {
  const view = useView<Answer>(`/money?${query.toString()}`);
  return html`<${PageTitle} title=${words.title} />
    <${Loaded} view=${view}>
      ${(money: Answer) => html`<${MoneyView} money=${money} query=${query} onVerified=${view.refresh} />`}
    <//>`;
}

export interface MoneyViewProps {
  readonly money: Answer;
  readonly query: URLSearchParams;
  readonly onVerified: (check: LedgerCheck) => void;
}

export function MoneyView({ money, query, onVerified }: MoneyViewProps): VNode {
  return html`
    <div class="cards">
      <${Held} held=${money.held} />
      <${LedgerState} check=${money.lastCheck} canVerify=${money.canVerify} onVerified=${onVerified} />
    </div>
    <h2>${words.period}</h2>
    <${FilterForm} fields=${FIELDS} query=${query} defaults=${toDates(money)} path="/console/money" />
    <dl class="facts">
      <dt>${words.overruns}</dt>
      <dd>
        ${words.overrunText(money.overruns, moneyText(money.overrunAmount, money.held[0]?.balance.currency ?? ''))}
      </dd>
      <dt>${words.lapses}</dt>
      <dd>${words.lapseText(money.lapses)}</dd>
    </dl>
    <h3>${words.margins}</h3>
    <p class="small quiet">${words.marginsNote}</p>
    <${DataTable}
      caption=${words.margins}
      columns=${MARGIN_COLUMNS}
      rows=${withTotals(money.margins)}
      keyOf=${(row: Answer['margins'][number]) => `${row.channel} ${row.priceKey} ${row.charged.currency}`}
      empty=${words.noMargins}
    />
    <h3>${words.settled}</h3>
    <${DataTable}
      caption=${words.settled}
      columns=${SETTLED_COLUMNS}
      rows=${money.settled}
      keyOf=${(row: Answer['settled'][number]) => `${row.priceKey} ${row.charged.currency}`}
      empty=${words.noSettled}
    />
    <h2>${words.contracts}</h2>
    <${ContractList} contracts=${money.contracts} />
  `;
}

function Held({ held }: { held: Answer['held'] }): VNode {
  if (held.length === 0) return html`<section class="card"><p class="quiet">${words.noAccounts}</p></section>`;
  return html`${held.map(
    ({ balance, held: reserved, accounts }) =>
      html`<section class="card" key=${balance.currency}>
        <h2>${words.balance}</h2>
        <p class="figure">${moneyText(balance.amount, balance.currency)}</p>
        <p>${words.held}: <strong>${moneyText(reserved.amount, reserved.currency)}</strong></p>
        <p><a href="/console/accounts?order=balance">${words.accounts(accounts)}</a></p>
      </section>`,
  )}`;
}

/** The dates of the answer stand in the form until the reader chooses others. */
export function toDates({ from, to }: { readonly from: number; readonly to: number }): Record<'from' | 'to', string> {
  const toUtcDate = (at: number): string => new Date(at).toISOString().slice(0, 10);
  // the end of the period is the beginning of the next day
  return { from: toUtcDate(from), to: toUtcDate(to - 1) };
}

/** The prices with their versions. Orders keep the version that they were made under. */
function ContractList({ contracts }: { contracts: readonly ContractRow[] }): VNode {
  const keys = [...new Set(contracts.map(({ key }) => key))];
  if (keys.length === 0) return html`<p class="quiet">${words.noContracts}</p>`;
  return html`<p class="small quiet">${words.contractsNote}</p>
    <div class="contracts">
      ${keys.map((key) => html`<${Contract} key=${key} name=${key} versions=${contracts.filter((each) => each.key === key)} />`)}
    </div>`;
}

function Contract({ name, versions }: { name: string; versions: readonly ContractRow[] }): VNode {
  return html`<section class="card">
    <h3>${name}</h3>
    ${versions
      .toSorted((one, other) => other.version - one.version)
      .map((each) => html`<${Version} key=${each.version} contract=${each} />`)}
  </section>`;
}

function Version({ contract: { version, since, isCurrent, terms } }: { contract: ContractRow }): VNode {
  return html`<details open=${isCurrent}>
    <summary>
      ${words.version(version)}${' '}
      <span class="small quiet">${isCurrent ? `${words.current}, ` : ''}${words.since} <${At} at=${since} /></span>
    </summary>
    <dl class="leaves">
      ${listLeaves(terms).map(
        ({ path, text }) =>
          html`<div key=${path}>
            <dt><code>${path}</code></dt>
            <dd><code>${text}</code></dd>
          </div>`,
      )}
    </dl>
  </details>`;
}

type Margin = Answer['margins'][number];
type SettledRow = Answer['settled'][number];

const MARGIN_COLUMNS: readonly Column<Margin>[] = [
  { name: words.priceKey, isHead: true, cell: ({ priceKey }) => priceKey },
  { name: words.channel, cell: ({ channel }) => html`<span class="id">${channel}</span>` },
  { name: words.requests, isNumber: true, cell: ({ requests }) => requests.toLocaleString('en') },
  { name: words.charged, isNumber: true, cell: ({ charged }) => formatMoney(charged) },
  { name: words.cost, isNumber: true, cell: ({ cost }) => formatMoney(cost) },
  { name: words.costReported, isNumber: true, cell: ({ reported }) => costPartText(reported) },
  { name: words.costEstimated, isNumber: true, cell: ({ estimated }) => costPartText(estimated) },
  { name: words.margin, isNumber: true, cell: ({ margin }) => renderMargin(margin) },
  {
    name: words.share,
    isNumber: true,
    cell: ({ margin, charged }) => shareText(margin.amount, charged.amount) ?? '–',
  },
];

const SETTLED_COLUMNS: readonly Column<SettledRow>[] = [
  { name: words.priceKey, isHead: true, cell: ({ priceKey }) => priceKey },
  { name: words.requests, isNumber: true, cell: ({ requests }) => requests.toLocaleString('en') },
  { name: words.charged, isNumber: true, cell: ({ charged }) => formatMoney(charged) },
];

function costPartText({ cost, requests }: CostPart): string {
  return requests === 0 ? words.noCostPart : words.costPart(formatMoney(cost), requests);
}

/** A loss is told by its sign and a word, not by its colour alone. */
function renderMargin(margin: Money): VNode | string {
  return margin.amount.startsWith('-')
    ? html`<span class="bad">${formatMoney(margin)} <span class="small">${words.loss}</span></span>`
    : formatMoney(margin);
}

/** The rows, and one more for each currency that has several. */
function withTotals(margins: readonly Margin[]): readonly Margin[] {
  const currencies = [...new Set(margins.map(({ charged }) => charged.currency))];
  return [...margins, ...currencies.flatMap((currency) => toTotalRows(margins, currency))];
}

function toTotalRows(margins: readonly Margin[], currency: string): readonly Margin[] {
  const own = margins.filter(({ charged }) => charged.currency === currency);
  if (own.length < 2) return [];
  const sum = (name: 'charged' | 'cost' | 'margin'): Money => ({
    amount: sumDecimals(own.map((row) => row[name].amount)),
    currency,
  });
  const sumPart = (name: 'reported' | 'estimated'): CostPart => ({
    cost: { amount: sumDecimals(own.map((row) => row[name].cost.amount)), currency },
    requests: own.reduce((total, row) => total + row[name].requests, 0),
  });
  const requests = own.reduce((total, row) => total + row.requests, 0);
  return [
    {
      ...{ priceKey: words.sum, channel: '', requests },
      ...{ charged: sum('charged'), cost: sum('cost'), margin: sum('margin') },
      ...{ reported: sumPart('reported'), estimated: sumPart('estimated') },
    },
  ];
}
