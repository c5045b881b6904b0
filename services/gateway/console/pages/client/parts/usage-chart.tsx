import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import type { UsageView } from '../../../api/usage.ts';
import { BarChart } from '../../../parts/bar-chart.tsx';
import { COLOURS } from '../../../parts/bar-picture.tsx';
import type { PictureData } from '../../../parts/bar-picture.tsx';
import { moneyText, sumDecimals } from '../../../parts/number-text.tsx';
import { serverNow } from '../../../state/api.ts';
import { usageWords } from '../usage-words.ts';
import { buildChart } from './chart-data.ts';
import type { ChartData } from './chart-data.ts';
import { nameSeries } from './name-series.ts';
import type { ChartShape } from './usage-query.ts';

const AXIS_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

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
