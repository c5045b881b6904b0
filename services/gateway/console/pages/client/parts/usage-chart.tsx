import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { UsageView, UsageSplit, UsageSeries } from '../../../api/usage.ts';
import { BarChart, COLOURS } from '../../../parts/bar-picture.tsx';
import type { PictureData } from '../../../parts/bar-picture.tsx';
import { moneyText, sumDecimals } from '../../../parts/number-text.tsx';
import { serverNow } from '../../../state/api.ts';
import { usageWords } from '../usage-words.ts';

const AXIS_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const DAY_MS = 24 * 60 * 60 * 1000;
/** A line that is more than this many times above the sums would press them to the ground. */
const BUDGET_OVER_SUMS_MAX = 5;
/** A projection is drawn for at least this many days, and for no longer than the period itself. */
const AHEAD_DAYS_MIN = 7;
const ISO_DAY_CHARACTERS = 10;

/**
 * The charges of each day, one part of a bar for each series, or their sum with the money that is left. The tables have
 * the same numbers.
 */
export function UsageChart({ usage, shape }: { usage: UsageView; shape: ChartShape }): VNode {
  const data = useMemo(() => buildChart(usage, shape, serverNow()), [usage, shape]);
  const { days, currency } = usage;
  return (
    <>
      <BarChart
        data={toPicture(data)}
        currency={currency}
        count={days.length}
        label={usageWords.chart(days[0] ?? '', days.at(-1) ?? '')}
        help={usageWords.chartHelp}
        isJoined={shape === 'sum'}
        describe={(day) => describeDay(usage, day)}
        readOut={(day) => <Readout usage={usage} day={day} />}
      />
      <LineLegend data={data} />
    </>
  );
}

function toPicture({ days, stacks, projection, budget }: ChartData): PictureData {
  const lines = { projection, budget };
  return {
    places: days.map((day) => AXIS_DAY.format(new Date(day))),
    stacks,
    lines: Object.entries(lines).flatMap(([style, points]) => (points === undefined ? [] : [{ style, points }])),
  };
}

/** The amounts of the chosen day. A screen reader hears them as the value of the chart. */
function Readout({ usage, day }: { usage: UsageView; day: number }): VNode {
  const { days, series, currency, split } = usage;
  return (
    <>
      <strong>{usageWords.dayTotal(days[day] ?? '', moneyText(sumDay(usage, day), currency))}</strong>
      {series.map((one, at) =>
        isZero(one.amounts[day]) ? null : (
          <span key={one.key}>
            <i class={`swatch ${seriesClass(series.length, at)}`} />
            {usageWords.part(nameSeries(one, split), moneyText(one.amounts[day] ?? '0', currency))}
          </span>
        ),
      )}
    </>
  );
}

function LineLegend({ data: { projection, budget } }: { data: ChartData }): VNode | null {
  if (projection === undefined) return null;
  return (
    <p class="readout small quiet">
      <span>
        <i class="line-key projection" />
        {usageWords.projection}
      </span>
      {budget === undefined ? null : (
        <span>
          <i class="line-key budget" />
          {usageWords.budget}
        </span>
      )}
    </p>
  );
}

/** The class with the colour of a series in the chart and in its table. */
export function seriesClass(count: number, at: number): string {
  return `series-${(count - 1 - at) % COLOURS}`;
}

function describeDay(usage: UsageView, day: number): string {
  const { days, series, currency, split } = usage;
  const parts = series.flatMap((one) => {
    const amount = one.amounts[day];
    return amount === undefined || isZero(amount)
      ? []
      : [usageWords.part(nameSeries(one, split), moneyText(amount, currency))];
  });
  return [usageWords.dayTotal(days[day] ?? '', moneyText(sumDay(usage, day), currency)), ...parts].join(', ');
}

function sumDay({ series }: UsageView, day: number): string {
  return sumDecimals(series.map(({ amounts }) => amounts[day] ?? '0'));
}

function isZero(amount: string | undefined): boolean {
  return amount === undefined || Number(amount) === 0;
}

type Points = readonly (number | null)[];

/** The numbers of a picture. The tables have the exact amounts, so these may be rounded. */
interface ChartData {
  /** The days as YYYY-MM-DD, including the projected days. */
  readonly days: readonly string[];
  /** The upper ends of the parts of each day, the highest first, so that each is drawn over the one before. */
  readonly stacks: readonly Points[];
  /** The sums at the pace of the last days. */
  readonly projection?: Points;
  /** The sum at which the money of the account is spent. */
  readonly budget?: Points;
}

type ChartFacts = Pick<UsageView, 'days' | 'series' | 'budget'>;

/** Each day alone, or the sums up to it with the line at which the money is spent. */
export function buildChart(usage: ChartFacts, shape: ChartShape, now: number): ChartData {
  return shape === 'days' ? { days: usage.days, stacks: stackSeries(usage) } : buildSums(usage, now);
}

/** The series one upon the other. */
export function stackSeries({ days, series }: Pick<UsageView, 'days' | 'series'>): number[][] {
  const sums = days.map(() => 0);
  const tops = series.map(({ amounts }) =>
    amounts.map((amount, day) => {
      sums[day] = (sums[day] ?? 0) + Number(amount);
      return sums[day];
    }),
  );
  return tops.toReversed();
}

function buildSums(usage: ChartFacts, now: number): ChartData {
  const { days, budget } = usage;
  const today = days.indexOf(toDay(now));
  const sums = stackSeries(usage).map(addUp);
  if (today < 0 || budget === undefined) return { days, stacks: sums };
  const spent = sums[0]?.[today] ?? 0;
  const perDay = Number(budget.perDay.amount);
  const limit = spent + Number(budget.free.amount);
  const until = budget.reachedAt === undefined ? Infinity : Math.ceil((budget.reachedAt - now) / DAY_MS);
  const ahead = Math.max(0, Math.min(until, Math.max(AHEAD_DAYS_MIN, days.length)));
  const all = [
    ...days.slice(0, today + 1),
    ...Array.from({ length: ahead }, (_, at) => toDay(now + (at + 1) * DAY_MS)),
  ];
  const projection = all.map((_, at) =>
    at < today ? null : Math.min(spent + perDay * (at - today), Math.max(limit, spent)),
  );
  const isNear = limit <= BUDGET_OVER_SUMS_MAX * (projection.at(-1) ?? 0);
  return {
    days: all,
    stacks: sums.map((tops) => all.map((_, at) => (at <= today ? (tops[at] ?? 0) : null))),
    projection,
    ...(isNear ? { budget: all.map(() => limit) } : {}),
  };
}

function addUp(amounts: readonly number[]): number[] {
  let sum = 0;
  return amounts.map((amount) => (sum += amount));
}

function toDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, ISO_DAY_CHARACTERS);
}

export function parseSplit(query: URLSearchParams): UsageSplit {
  const split = query.get('split');
  return split === 'token' || split === 'label' ? split : 'model';
}

/** The form of the chart: each day alone, or the sum up to it. */
export type ChartShape = 'days' | 'sum';

export function parseShape(query: URLSearchParams): ChartShape {
  return query.get('show') === 'sum' ? 'sum' : 'days';
}

/** The name of a model, a token or a label, or its id if it has no name. */
export function nameSeries({ key, name }: UsageSeries, split: UsageSplit): string {
  return name || key || (split === 'label' ? usageWords.unlabelled : usageWords.unnamed);
}
