import type { VNode } from 'preact';
import type { UsageSeries, UsageSplit, UsageSums, UsageView, Budget, UsageBefore } from '../../api/usage.ts';
import type { PageProps } from '../../frame.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { moneyText, formatMoney, parseNanos, shareText } from '../../parts/number-text.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { PeriodFilters } from '../../parts/period-fields.tsx';
import { parsePeriod } from '../../parts/period.ts';
import type { Period } from '../../parts/period.ts';
import { SelectField } from '../../parts/select-field.tsx';
import { setQuery } from '../../state/address.ts';
import { serverNow } from '../../state/api.ts';
import { useView } from '../../state/use-view.ts';
import { nameSeries, UsageChart, seriesClass, parseShape, parseSplit } from './parts/usage-chart.tsx';
import type { ChartShape } from './parts/usage-chart.tsx';
import { usageWords as words } from './usage-words.ts';
import { Stats } from '../../parts/stats.tsx';
import type { Stat } from '../../parts/stats.tsx';

/** No count of usage needs more of a name. */
const COUNTS = ['requests', 'seconds', 'inputTokens', 'outputTokens', 'images'] as const;
const FILES = '/console/api/v1/usage';
/** The row of the sums. No model, token or label is a space. */
const TOTAL = ' ';
const ISO_DAY_CHARACTERS = 10;
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

export function page({ query }: PageProps): VNode {
  const period = parsePeriod(query, serverNow());
  const split = parseSplit(query);
  const shape = parseShape(query);
  const view = useView<UsageView>(`/usage?${new URLSearchParams({ ...period, split }).toString()}`);
  return (
    <>
      <PageTitle title={words.title} lead={words.lead} />
      <UsageFilters period={period} split={split} shape={shape} />
      <Loaded view={view}>{(usage) => <UsageReport usage={usage} period={period} shape={shape} />}</Loaded>
    </>
  );
}

interface FilterProps {
  readonly period: Period;
  readonly split: UsageSplit;
  readonly shape: ChartShape;
}

function UsageFilters({ period, split, shape }: FilterProps): VNode {
  return (
    <PeriodFilters names={words} period={period}>
      <SelectField
        label={words.split}
        value={split}
        options={listOptions(words.splits)}
        onChange={(value) => setQuery({ split: value })}
      />
      <SelectField
        label={words.shape}
        value={shape}
        options={listOptions(words.shapes)}
        onChange={(value) => setQuery({ show: value })}
      />
    </PeriodFilters>
  );
}

function listOptions(names: Readonly<Record<string, string>>): readonly { value: string; name: string }[] {
  return Object.entries(names).map(([value, name]) => ({ value, name }));
}

export interface ReportProps {
  readonly usage: UsageView;
  readonly period: Period;
  readonly shape: ChartShape;
}

export function UsageReport({ usage, period, shape }: ReportProps): VNode {
  return (
    <>
      <UsageStats usage={usage} />
      {usage.isTruncated ? <p class="busy">{words.truncated}</p> : null}
      {usage.series.length === 0 ? (
        <EmptyState
          title={words.none}
          text={words.noneText}
          action={
            <a class="button" href="/console/try">
              {words.make}
            </a>
          }
        />
      ) : (
        <>
          <UsageChart usage={usage} shape={shape} />
          <SeriesTable usage={usage} />
          <h2>{words.byDay}</h2>
          <DayTable usage={usage} />
          <Downloads usage={usage} period={period} />
        </>
      )}
    </>
  );
}

/** Links to files: the figures of the page, and every charge with its task. */
function Downloads({ usage: { split }, period }: { usage: UsageView; period: Period }): VNode {
  const shown = new URLSearchParams({ ...period, group_by: 'day', split_by: split, format: 'csv' });
  const items = new URLSearchParams({ ...period, format: 'csv' });
  return (
    <p class="actions">
      <a class="button" href={`${FILES}?${shown.toString()}`} download="reelgate-usage.csv">
        {words.csv}
      </a>
      <a class="button" href={`${FILES}/items?${items.toString()}`} download="reelgate-charges.csv">
        {words.itemsCsv}
      </a>
    </p>
  );
}

interface SeriesRow {
  readonly name: string;
  readonly key: string;
  readonly sums: UsageSums;
  readonly before: string;
  /** The place among the series, undefined for the total. */
  readonly at: number | undefined;
}

function SeriesTable({ usage }: { usage: UsageView }): VNode {
  const { series, total, currency, split, before } = usage;
  const rows: readonly SeriesRow[] = [
    ...series.map((one, at) => ({
      name: nameSeries(one, split),
      key: one.key,
      sums: one.total,
      before: before?.amounts[one.key] ?? '0',
      at,
    })),
    { name: words.total, key: TOTAL, sums: total, before: before?.total.amount ?? '0', at: undefined },
  ];
  const columns: readonly Column<SeriesRow>[] = [
    {
      name: words.splits[split],
      isHead: true,
      cell: ({ name, at }) => (
        <>
          {at === undefined ? null : <span class={`swatch ${seriesClass(series.length, at)}`} aria-hidden="true" />}
          {name}
        </>
      ),
    },
    { name: words.spent, isNumber: true, cell: ({ sums }) => moneyText(sums.amount, currency) },
    ...(before === undefined ? [] : comparingColumns(currency)),
    ...COUNTS.filter((count) => total[count] > 0).map((count) => ({
      name: words[count],
      isNumber: true,
      cell: ({ sums }: SeriesRow) => sums[count].toLocaleString('en'),
    })),
  ];
  return (
    <>
      <h2>{words.sums[split]}</h2>
      <DataTable caption={words.sums[split]} columns={columns} rows={rows} keyOf={({ key }) => key} />
    </>
  );
}

function comparingColumns(currency: string): readonly Column<SeriesRow>[] {
  return [
    { name: words.before, isNumber: true, cell: ({ before }) => moneyText(before, currency) },
    { name: words.change, isNumber: true, cell: ({ sums, before }) => changeText(sums.amount, before) ?? '–' },
  ];
}

function DayTable({ usage: { days, series, currency, split } }: { usage: UsageView }): VNode {
  const rows = days
    .map((day, at) => ({ day, at }))
    .filter(({ at }) => series.some(({ amounts }) => !isZero(amounts[at])));
  type Row = (typeof rows)[number];
  const columns: readonly Column<Row>[] = [
    { name: words.day, isHead: true, cell: ({ day }) => <time datetime={day}>{day}</time> },
    ...series.map((one: UsageSeries) => ({
      name: nameSeries(one, split),
      isNumber: true,
      cell: ({ at }: Row) => (isZero(one.amounts[at]) ? '–' : moneyText(one.amounts[at] ?? '0', currency)),
    })),
  ];
  return <DataTable caption={words.byDay} columns={columns} rows={rows} keyOf={({ day }) => day} />;
}

function isZero(amount: string | undefined): boolean {
  return amount === undefined || Number(amount) === 0;
}

/** The charges, their change from the period before, and how long the money of the account lasts. */
function UsageStats({ usage }: { usage: UsageView }): VNode {
  const { total, before, budget, currency, days } = usage;
  const stats: readonly Stat[] = [
    {
      name: words.spent,
      value: moneyText(total.amount, currency),
      ...(before === undefined ? {} : { note: describeChange(total.amount, before, days.length, currency) }),
    },
    { name: words.requests, value: total.requests.toLocaleString('en') },
    ...(budget === undefined ? [] : budgetStats(budget)),
  ];
  return <Stats stats={stats} />;
}

/** Compares with the period before, such as `12.0 % more than in the 30 days before ($4.20)`. */
export function describeChange(amount: string, before: UsageBefore, days: number, currency: string): string {
  const period = words.daysBefore(days);
  const difference = (parseNanos(amount) ?? 0n) - (parseNanos(before.total.amount) ?? 0n);
  if (difference === 0n) return words.beforeSame(period);
  const share = changeText(amount, before.total.amount);
  if (share === undefined) return words.beforeNone(period);
  return words.beforeChange(
    share.replace(/^[+−]/, ''),
    difference > 0n,
    period,
    moneyText(before.total.amount, currency),
  );
}

/** The change from one amount to another, such as `+12.0 %`, or undefined if the first amount is zero. */
export function changeText(amount: string, before: string): string | undefined {
  const [now, then] = [parseNanos(amount) ?? 0n, parseNanos(before) ?? 0n];
  const share = shareText(String(now - then), String(then));
  return share === undefined || share.startsWith('−') ? share : `+${share}`;
}

function budgetStats({ free, perDay, reachedAt }: Budget): readonly Stat[] {
  return [
    { name: words.perDay, value: formatMoney(perDay), note: words.perDayNote },
    {
      name: words.left,
      value: <span class={free.amount.startsWith('-') ? 'bad' : undefined}>{formatMoney(free)}</span>,
      note: describeEnd(free.amount, reachedAt),
    },
  ];
}

function describeEnd(free: string, reachedAt: number | undefined): VNode | string {
  if ((parseNanos(free) ?? 0n) <= 0n) return words.leftNone;
  if (reachedAt === undefined) return words.leftLong;
  const date = new Date(reachedAt);
  return <time datetime={date.toISOString().slice(0, ISO_DAY_CHARACTERS)}>{words.leftUntil(DAY.format(date))}</time>;
}
