import type { VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import { formatNanos } from '../../../parts/contract-values.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { formatCount, formatDecimal, shareText } from '../../../parts/number-text.tsx';
import { booksWords } from '../books-words.ts';

const words = booksWords.money;

type Margin = RpcAnswer<'billing.AccountService/GetMoney'>['margins'][number];

const MARGIN_COLUMNS: readonly Column<Margin>[] = [
  { name: words.priceKey, isHead: true, cell: ({ priceKey }) => priceKey },
  { name: words.channel, cell: ({ channel }) => <span class="id">{channel}</span> },
  { name: words.requests, isNumber: true, cell: ({ requests }) => formatCount(requests) },
  {
    name: words.charged,
    isNumber: true,
    cell: ({ chargedNanos, currency }) => formatNanos(chargedNanos, currency),
  },
  { name: words.cost, isNumber: true, cell: ({ costNanos, currency }) => formatNanos(costNanos, currency) },
  {
    name: words.costReported,
    isNumber: true,
    cell: ({ reportedCostNanos, reportedRequests, currency }) =>
      costPartText(BigInt(reportedCostNanos), BigInt(reportedRequests), currency),
  },
  {
    name: words.costEstimated,
    isNumber: true,
    cell: ({ costNanos, reportedCostNanos, requests, reportedRequests, currency }) =>
      costPartText(
        BigInt(costNanos) - BigInt(reportedCostNanos),
        BigInt(requests) - BigInt(reportedRequests),
        currency,
      ),
  },
  { name: words.margin, isNumber: true, cell: (row) => renderMargin(readMargin(row), row.currency) },
  {
    name: words.share,
    isNumber: true,
    cell: (row) => shareText(formatDecimal(readMargin(row)), formatDecimal(BigInt(row.chargedNanos))) ?? '–',
  },
];

/** Charges and their costs, with those that upstreams reported and those that are estimated told apart. */
export function MarginTable({ margins }: { margins: readonly Margin[] }): VNode {
  return (
    <DataTable
      caption={words.margins}
      columns={MARGIN_COLUMNS}
      rows={withTotals(margins)}
      keyOf={(row) => `${row.channel} ${row.priceKey} ${row.currency}`}
      empty={words.noMargins}
    />
  );
}

function readMargin({ chargedNanos, costNanos }: Margin): bigint {
  return BigInt(chargedNanos) - BigInt(costNanos);
}

function costPartText(cost: bigint, requests: bigint, currency: string): string {
  return requests === 0n ? words.noCostPart : words.costPart(formatNanos(cost, currency), Number(requests));
}

/** A loss is told by its sign and a word, not by its colour alone. */
function renderMargin(margin: bigint, currency: string): VNode | string {
  return margin < 0n ? (
    <span class="bad">
      {formatNanos(margin, currency)} <span class="small">{words.loss}</span>
    </span>
  ) : (
    formatNanos(margin, currency)
  );
}

/** The rows, and one more for each currency that has several. */
function withTotals(margins: readonly Margin[]): readonly Margin[] {
  const byCurrency = Map.groupBy(margins, ({ currency }) => currency);
  return [
    ...margins,
    ...[...byCurrency].flatMap(([currency, own]) => (own.length < 2 ? [] : toTotalRow(own, currency))),
  ];
}

function toTotalRow(margins: readonly Margin[], currency: string): Margin {
  const sum = (name: keyof Margin): string => margins.reduce((all, row) => all + BigInt(row[name]), 0n).toString();
  return {
    ...{ priceKey: words.sum, channel: '', currency },
    ...{ requests: sum('requests'), chargedNanos: sum('chargedNanos'), costNanos: sum('costNanos') },
    ...{ reportedRequests: sum('reportedRequests'), reportedCostNanos: sum('reportedCostNanos') },
  };
}
