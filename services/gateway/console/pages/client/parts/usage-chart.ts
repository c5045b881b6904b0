import { useMemo, useState } from 'preact/hooks';
import type { UsageView } from '../../../api/usage.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText, sumDecimals } from '../../../parts/number-text.ts';
import { serverNow } from '../../../state/server-clock.ts';
import { usageWords } from '../usage-words.ts';
import { buildChart } from './chart-data.ts';
import type { ChartData } from './chart-data.ts';
import { nameSeries } from './name-series.ts';
import { COLOURS, UsagePicture } from './usage-picture.ts';
import type { ChartShape } from './usage-query.ts';

/**
 * The charges of each day, one part of a bar for each series, or their sum with the money that is left. A pointer and the
 * arrow keys choose a day, whose amounts stand below. The tables have the same numbers.
 */
export function UsageChart({ usage, shape }: { usage: UsageView; shape: ChartShape }): VNode {
  const data = useMemo(() => buildChart(usage, shape, serverNow()), [usage, shape]);
  const [day, setDay] = useState(usage.days.length - 1);
  const readDay = (at: number): void => {
    setDay(Math.min(at, usage.days.length - 1));
  };
  const move = (event: KeyboardEvent): void => {
    const to = findDayByKey(event.key, day, usage.days.length);
    if (to === undefined) return;
    event.preventDefault();
    setDay(to);
  };
  const shown = Math.min(day, usage.days.length - 1);
  return html`<div
      class="chart"
      role="slider"
      tabindex="0"
      aria-label=${usageWords.chart(usage.days[0] ?? '', usage.days.at(-1) ?? '')}
      aria-description=${usageWords.chartHelp}
      aria-valuemin="1"
      aria-valuemax=${usage.days.length}
      aria-valuenow=${shown + 1}
      aria-valuetext=${describeDay(usage, shown)}
      onKeyDown=${move}
    >
      <${UsagePicture} data=${data} currency=${usage.currency} shape=${shape} marked=${shown} onDay=${readDay} />
    </div>
    <${Readout} usage=${usage} day=${shown} />
    <${LineLegend} data=${data} />`;
}

/** The amounts of the chosen day. A screen reader hears them as the value of the chart. */
function Readout({ usage, day }: { usage: UsageView; day: number }): VNode {
  const { days, series, currency } = usage;
  return html`<p class="readout small" aria-hidden="true">
    <strong>${usageWords.dayTotal(days[day] ?? '', moneyText(sumDay(usage, day), currency))}</strong>
    ${series.map((one, at) =>
      isZero(one.amounts[day])
        ? null
        : html`<span key=${one.key}
            ><i class=${`swatch ${seriesClass(series.length, at)}`}></i>${usageWords.part(
              nameSeries(one),
              moneyText(one.amounts[day] ?? '0', currency),
            )}</span
          >`,
    )}
  </p>`;
}

function LineLegend({ data: { projection, budget } }: { data: ChartData }): VNode | null {
  if (projection === undefined) return null;
  return html`<p class="readout small quiet">
    <span><i class="line-key projection"></i>${usageWords.projection}</span>
    ${budget === undefined ? null : html`<span><i class="line-key budget"></i>${usageWords.budget}</span>`}
  </p>`;
}

/** The class with the colour of a series in the chart and in its table. */
export function seriesClass(count: number, at: number): string {
  return `series-${(count - 1 - at) % COLOURS}`;
}

function describeDay(usage: UsageView, day: number): string {
  const { days, series, currency } = usage;
  const parts = series.flatMap((one) => {
    const amount = one.amounts[day];
    return amount === undefined || isZero(amount)
      ? []
      : [usageWords.part(nameSeries(one), moneyText(amount, currency))];
  });
  return [usageWords.dayTotal(days[day] ?? '', moneyText(sumDay(usage, day), currency)), ...parts].join(', ');
}

function sumDay({ series }: UsageView, day: number): string {
  return sumDecimals(series.map(({ amounts }) => amounts[day] ?? '0'));
}

function isZero(amount: string | undefined): boolean {
  return amount === undefined || Number(amount) === 0;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
const LEAPS: Readonly<Record<string, number>> = { PageUp: 7, PageDown: -7 };

/** The day that a key leads to; undefined: the key is for something else. */
export function findDayByKey(key: string, day: number, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const step = STEPS[key] ?? LEAPS[key];
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, day + step));
}
