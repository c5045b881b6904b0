import { useEffect, useRef } from 'preact/hooks';
import type { UsageView } from '../../../api/usage.ts';
import type UPlot from 'uplot';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText } from '../../../parts/number-text.ts';
import { loadModule } from '../../../state/load-page.ts';
import { words } from '../../../words.ts';

const HEIGHT = 260;
/** An amount has no more digits after the point. */
const DIGITS = 9;
const DAY_S = 24 * 60 * 60;
/** Of a bar, in its place and in pixels. */
const BAR = { share: 0.7, most: 48 };
/** Colours that differ in brightness too; more series than these repeat them. */
const COLOURS = 6;

/** The charges of each day, one part of a bar for each series. The table below has the same numbers. */
export function UsageChart({ usage }: { usage: UsageView }): VNode {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = place;
    if (current === null) return undefined;
    return drawChart(current, usage);
  }, [usage]);
  return html`<div class="chart" aria-hidden="true" ref=${place}></div>`;
}

/** Draws until the returned function is called. The library loads with the first chart. */
function drawChart(place: HTMLElement, usage: UsageView): () => void {
  let end = (): void => undefined;
  let isWanted = true;
  addStyle();
  const draw = ({ default: Chart }: { readonly default: typeof UPlot }): void => {
    if (!isWanted) return;
    const style = getComputedStyle(document.documentElement);
    const colour = (name: string): string => style.getPropertyValue(name).trim();
    const { days, bars } = stackSeries(usage);
    const chart = new Chart(
      {
        width: place.clientWidth,
        height: HEIGHT,
        cursor: { show: false },
        legend: { show: false },
        tzDate: (seconds) => Chart.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
        // a day stands in the middle of its bar
        scales: { x: { time: true, range: (_chart, min, max) => [min - DAY_S / 2, max + DAY_S / 2] } },
        axes: buildAxes(colour, usage.currency),
        series: [
          {},
          ...bars.map((_bar, at) => ({
            fill: colour(`--series-${at % COLOURS}`),
            width: 0,
            points: { show: false },
            paths: Chart.paths.bars?.({ size: [BAR.share, BAR.most] }),
          })),
        ],
      } as ConstructorParameters<typeof Chart>[0],
      [days.map((day) => Date.parse(day) / 1000), ...bars.map((bar) => [...bar])],
      place,
    );
    const resized = new ResizeObserver(() => {
      chart.setSize({ width: place.clientWidth, height: HEIGHT });
    });
    resized.observe(place);
    end = () => {
      resized.disconnect();
      chart.destroy();
    };
  };
  loadModule(() => import('uplot')).then(draw, () => {
    if (isWanted) place.textContent = words.chartMissing;
  });
  const scheme = matchMedia('(prefers-color-scheme: dark)');
  const redraw = (): void => {
    end();
    stop();
    stop = drawChart(place, usage);
  };
  let stop = (): void => {
    scheme.removeEventListener('change', redraw);
  };
  scheme.addEventListener('change', redraw);
  return () => {
    isWanted = false;
    end();
    stop();
  };
}

/** The days below, the money at the left. */
function buildAxes(colour: (name: string) => string, currency: string): object[] {
  return [
    { stroke: colour('--quiet'), grid: { show: false } },
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

export interface Stack {
  readonly days: readonly string[];
  /** The upper ends of the bars of each day, the highest first, so that each is drawn over the one before. */
  readonly bars: readonly (readonly number[])[];
}

/** The series one upon the other. Only the picture uses these numbers, so they may be rounded. */
export function stackSeries({ days, series }: Pick<UsageView, 'days' | 'series'>): Stack {
  const sums = days.map(() => 0);
  const tops = series.map(({ amounts }) =>
    amounts.map((amount, day) => {
      sums[day] = (sums[day] ?? 0) + Number(amount);
      return sums[day];
    }),
  );
  return { days, bars: tops.toReversed() };
}
