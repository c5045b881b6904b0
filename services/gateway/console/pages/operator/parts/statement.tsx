import type { VNode } from 'preact';
import type { UsageView } from '../../../api/usage.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { sumDecimals, moneyText } from '../../../parts/number-text.tsx';
import { booksWords } from '../books-words.ts';
import { FilterForm, toDates } from './filter-form.tsx';
import type { FilterField } from './filter-form.tsx';

const words = booksWords.accounts;

const FIELDS: readonly FilterField[] = [
  { name: 'from', label: words.from, type: 'date' },
  { name: 'to', label: words.to, type: 'date' },
];

export interface Day {
  readonly day: string;
  /** One for each series, in their order. */
  readonly amounts: readonly string[];
  readonly total: string;
}

/** The days that have a charge, the newest first. */
export function listChargedDays({ days, series }: Pick<UsageView, 'days' | 'series'>): readonly Day[] {
  return days
    .map((day, at) => {
      const amounts = series.map((each) => each.amounts[at] ?? '0');
      return { day, amounts, total: sumDecimals(amounts) };
    })
    .filter(({ amounts }) => amounts.some((amount) => /[1-9]/.test(amount)))
    .toReversed();
}

export interface StatementProps {
  readonly usage: UsageView;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Shows the charges, by day and model. */
export function Statement({ usage, path, query }: StatementProps): VNode {
  const { currency, series, total, isTruncated } = usage;
  const formatCell = (amount: string): string => (/[1-9]/.test(amount) ? moneyText(amount, currency) : '–');
  const columns: readonly Column<Day>[] = [
    { name: words.day, isHead: true, cell: ({ day }) => day },
    ...series.map(({ name }, at) => ({
      name,
      isNumber: true,
      cell: ({ amounts }: Day) => formatCell(amounts[at] ?? '0'),
    })),
    ...(series.length > 1
      ? [{ name: words.sum, isNumber: true, cell: (day: Day) => <strong>{formatCell(day.total)}</strong> }]
      : []),
  ];
  return (
    <section>
      <h2>{words.statement}</h2>
      <FilterForm fields={FIELDS} query={query} path={path} defaults={toDates(usage)} />
      <p>{words.total(moneyText(total.amount, currency), total.requests)}</p>
      <p class="small quiet">{isTruncated ? words.truncated : words.statementNote}</p>
      <DataTable
        caption={words.statement}
        columns={columns}
        rows={listChargedDays(usage)}
        keyOf={({ day }) => day}
        empty={words.noUsage}
      />
    </section>
  );
}
