import type { VNode } from 'preact';
import type { Money } from '../../../api/money.ts';
import type { CostPart, MoneyView } from '../../../api/operator-money.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { formatMoney, shareText, sumDecimals } from '../../../parts/number-text.tsx';
import { booksWords } from '../books-words.ts';

const words = booksWords.money;

type Margin = MoneyView['margins'][number];

const MARGIN_COLUMNS: readonly Column<Margin>[] = [
  { name: words.priceKey, isHead: true, cell: ({ priceKey }) => priceKey },
  { name: words.channel, cell: ({ channel }) => <span class="id">{channel}</span> },
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

/** Charges and their costs, with those that upstreams reported and those that are estimated told apart. */
export function MarginTable({ margins }: { margins: readonly Margin[] }): VNode {
  return (
    <DataTable
      caption={words.margins}
      columns={MARGIN_COLUMNS}
      rows={withTotals(margins)}
      keyOf={(row) => `${row.channel} ${row.priceKey} ${row.charged.currency}`}
      empty={words.noMargins}
    />
  );
}

function costPartText({ cost, requests }: CostPart): string {
  return requests === 0 ? words.noCostPart : words.costPart(formatMoney(cost), requests);
}

/** A loss is told by its sign and a word, not by its colour alone. */
function renderMargin(margin: Money): VNode | string {
  return margin.amount.startsWith('-') ? (
    <span class="bad">
      {formatMoney(margin)} <span class="small">{words.loss}</span>
    </span>
  ) : (
    formatMoney(margin)
  );
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
