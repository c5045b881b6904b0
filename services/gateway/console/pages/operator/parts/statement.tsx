import type { VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import { formatNanos } from '../../../parts/contract-values.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import type { Period } from '../../../parts/period.ts';
import { booksWords } from '../books-words.ts';
import { FilterForm } from './filter-form.tsx';
import type { FilterField } from './filter-form.tsx';

const words = booksWords.accounts;

const FIELDS: readonly FilterField[] = [
  { name: 'from', label: words.from, type: 'date' },
  { name: 'to', label: words.to, type: 'date' },
];

type Usage = RpcAnswer<'billing.UsageService/GetUsage'>;
type Groups = Usage['groups'];

export interface Day {
  readonly day: string;
  /** The charge of each series in billionths, in their order. */
  readonly amounts: readonly bigint[];
  readonly total: bigint;
}

/** A model, a token or a label. */
interface Series {
  readonly key: string;
  readonly name: string;
}

/** The models, the tokens or the labels of a statement, the largest charge first. */
export function listSeries(groups: Groups): readonly Series[] {
  return [...Map.groupBy(groups, ({ splitKey }) => splitKey)]
    .map(([key, own]) => ({ key, name: own[0]?.splitName || key, nanos: sumNanos(own) }))
    .toSorted((one, other) => Number(other.nanos - one.nanos));
}

/** The days that have a charge, the newest first. */
export function listChargedDays(groups: Groups, series: readonly Series[]): readonly Day[] {
  return [...Map.groupBy(groups, ({ key }) => key)]
    .map(([day, own]) => ({
      day,
      amounts: series.map(({ key }) => sumNanos(own.filter(({ splitKey }) => splitKey === key))),
      total: sumNanos(own),
    }))
    .filter(({ amounts }) => amounts.some((nanos) => nanos !== 0n))
    .toSorted((one, other) => (one.day < other.day ? 1 : -1));
}

function sumNanos(groups: Groups): bigint {
  return groups.reduce((sum, { amountNanos }) => sum + BigInt(amountNanos), 0n);
}

export interface StatementProps {
  readonly usage: Usage;
  readonly period: Period;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Shows the charges, by day and model. */
export function Statement({ usage, period, path, query }: StatementProps): VNode {
  const { groups, currency, total, truncated } = usage;
  const series = listSeries(groups);
  const formatCell = (nanos: bigint): string => (nanos === 0n ? '–' : formatNanos(nanos, currency));
  const columns: readonly Column<Day>[] = [
    { name: words.day, isHead: true, cell: ({ day }) => day },
    ...series.map(({ name }, at) => ({
      name,
      isNumber: true,
      cell: ({ amounts }: Day) => formatCell(amounts[at] ?? 0n),
    })),
    ...(series.length > 1
      ? [{ name: words.sum, isNumber: true, cell: (day: Day) => <strong>{formatCell(day.total)}</strong> }]
      : []),
  ];
  return (
    <section>
      <h2>{words.statement}</h2>
      <FilterForm fields={FIELDS} query={query} path={path} defaults={{ ...period }} />
      <p>{words.total(formatNanos(total?.amountNanos ?? 0n, currency), Number(total?.requests ?? 0))}</p>
      <p class="small quiet">{truncated ? words.truncated : words.statementNote}</p>
      <DataTable
        caption={words.statement}
        columns={columns}
        rows={listChargedDays(groups, series)}
        keyOf={({ day }) => day}
        empty={words.noUsage}
      />
    </section>
  );
}
