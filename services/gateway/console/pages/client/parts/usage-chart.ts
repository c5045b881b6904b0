import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type UPlot from 'uplot';
import type { UsageView } from '../../../api/usage.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText, sumDecimals } from '../../../parts/number-text.ts';
import { loadModule } from '../../../state/load-page.ts';
import { serverNow } from '../../../state/server-clock.ts';
import { words } from '../../../words.ts';
import { usageWords } from '../usage-words.ts';
import { buildChart } from './chart-data.ts';
import type { ChartData } from './chart-data.ts';
import { nameSeries } from './name-series.ts';
import type { ChartShape } from './usage-query.ts';

const HEIGHT = 260;
/** An amount has no more digits after the point. */
const DIGITS = 9;
const DAY_S = 24 * 60 * 60;
/** Of a bar, in its place and in pixels. */
const BAR = { share: 0.7, most: 48 };
/** Colours that differ in brightness too; more series than these repeat them. */
export const COLOURS = 6;
const DASH = [6, 4];
const AXIS_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

type Chart = InstanceType<typeof UPlot>;
type Mark = (day: number) => void;

interface DrawnChart {
  /** Marks a day; undefined: none. */
  mark(day: number | undefined): void;
  end(): void;
}

/**
 * The charges of each day, one part of a bar for each series, or their sum with the money that is left. A pointer and the
 * arrow keys choose a day, whose amounts stand below. The tables have the same numbers.
 */
export function UsageChart({ usage, shape }: { usage: UsageView; shape: ChartShape }): VNode {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<DrawnChart | undefined>(undefined);
  const data = useMemo(() => buildChart(usage, shape, serverNow()), [usage, shape]);
  const [day, setDay] = useState(usage.days.length - 1);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    const chart = drawChart(current, { data, currency: usage.currency, shape }, (at) => {
      setDay(Math.min(at, usage.days.length - 1));
    });
    drawn.current = chart;
    return () => {
      drawn.current = undefined;
      chart.end();
    };
  }, [data]);
  const move = (event: KeyboardEvent): void => {
    const to = findDayByKey(event.key, day, usage.days.length);
    if (to === undefined) return;
    event.preventDefault();
    setDay(to);
    drawn.current?.mark(to);
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
      ref=${place}
      onKeyDown=${move}
      onFocus=${() => drawn.current?.mark(shown)}
      onBlur=${() => drawn.current?.mark(undefined)}
    ></div>
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

interface Picture {
  readonly data: ChartData;
  readonly currency: string;
  readonly shape: ChartShape;
}

/** Draws until the returned chart is ended, and again when the colours change. The library loads with the first chart. */
function drawChart(place: HTMLElement, picture: Picture, onDay: Mark): DrawnChart {
  let chart: Chart | undefined;
  let isWanted = true;
  addStyle();
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const resized = new ResizeObserver(() => {
    chart?.setSize({ width: place.clientWidth, height: HEIGHT });
  });
  const draw = ({ default: Library }: { readonly default: typeof UPlot }): void => {
    if (!isWanted) return;
    chart?.destroy();
    chart = openChart(Library, place, picture, onDay);
  };
  const redraw = (): void => {
    loadModule(() => import('uplot')).then(draw, () => {
      if (isWanted) place.textContent = words.chartMissing;
    });
  };
  scheme.addEventListener('change', redraw);
  resized.observe(place);
  redraw();
  return {
    mark: (day) => {
      if (chart === undefined) return;
      const x = day === undefined ? undefined : chart.data[0][day];
      chart.setCursor(x === undefined ? { left: -1, top: -1 } : { left: chart.valToPos(x, 'x'), top: 0 });
    },
    end: () => {
      isWanted = false;
      scheme.removeEventListener('change', redraw);
      resized.disconnect();
      chart?.destroy();
    },
  };
}

function openChart(Library: typeof UPlot, place: HTMLElement, { data, currency, shape }: Picture, onDay: Mark): Chart {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const { days, stacks, projection, budget } = data;
  const lines = [
    ...(projection === undefined ? [] : [{ points: projection, stroke: colour('--quiet') }]),
    ...(budget === undefined ? [] : [{ points: budget, stroke: colour('--bad') }]),
  ];
  return new Library(
    {
      width: place.clientWidth,
      height: HEIGHT,
      cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
      legend: { show: false },
      tzDate: (seconds) => Library.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      // a day stands in the middle of its bar
      scales: { x: { time: true, range: (_chart, min, max) => [min - DAY_S / 2, max + DAY_S / 2] } },
      axes: buildAxes(colour, currency),
      series: [
        {},
        ...stacks.map((_stack, at) => ({
          fill: colour(`--series-${at % COLOURS}`),
          width: 0,
          points: { show: false },
          ...(shape === 'days' ? { paths: Library.paths.bars?.({ size: [BAR.share, BAR.most] }) } : {}),
        })),
        ...lines.map(({ stroke }) => ({ stroke, width: 2, dash: DASH, points: { show: false } })),
      ],
      hooks: {
        setCursor: [
          ({ cursor: { idx } }: Chart) => {
            if (idx !== undefined && idx !== null) onDay(idx);
          },
        ],
      },
    } as ConstructorParameters<typeof UPlot>[0],
    [
      days.map((day) => Date.parse(day) / 1000),
      ...stacks.map((points) => [...points]),
      ...lines.map(({ points }) => [...points]),
    ] as ConstructorParameters<typeof UPlot>[1],
    place,
  );
}

/** The days below, the money at the left. */
function buildAxes(colour: (name: string) => string, currency: string): object[] {
  return [
    {
      stroke: colour('--quiet'),
      grid: { show: false },
      values: (_chart: unknown, seconds: readonly number[]) =>
        seconds.map((second) => AXIS_DAY.format(new Date(second * 1000))),
    },
    {
      stroke: colour('--quiet'),
      grid: { stroke: colour('--line'), width: 1 },
      size: 72,
      values: (_chart: unknown, amounts: readonly number[]) =>
        amounts.map((amount) => moneyText(amount.toFixed(DIGITS), currency)),
    },
  ];
}

function addStyle(): void {
  const href = new URL('../../../packages/uplot.css', import.meta.url).href;
  if (document.querySelector(`link[href="${href}"]`) !== null) return;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = href;
  document.head.append(link);
}
