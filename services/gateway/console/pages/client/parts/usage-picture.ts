import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText } from '../../../parts/number-text.ts';
import type { ChartData } from './chart-data.ts';
import type { ChartShape } from './usage-query.ts';

/** Colours that differ in brightness too; more series than these repeat them. */
export const COLOURS = 6;
/** In pixels. Everything across is in shares of the width, so nothing is measured or drawn again. */
const PLOT = { top: 12, bottom: 228, height: 260 };
/** The part of its place that a bar fills. */
const BAR_SHARE = 0.7;
const TICKS_MAX = 4;
const DAYS_MAX = 7;
/** An amount has no more digits after the point. */
const DIGITS = 9;
const AXIS_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export interface UsagePictureProps {
  readonly data: ChartData;
  readonly currency: string;
  readonly shape: ChartShape;
  /** The place of the day that is read out. */
  readonly marked: number;
  readonly onDay: (day: number) => void;
}

/** The picture of the charges. The words and the tables beside it say the same. */
export function UsagePicture({ data, currency, shape, marked, onDay }: UsagePictureProps): VNode {
  const { days, stacks, projection, budget } = data;
  const ticks = chooseTicks(Math.max(0, ...[...stacks, projection ?? [], budget ?? []].flat().map((one) => one ?? 0)));
  const highest = ticks.at(-1) ?? 1;
  const toY = (amount: number): number => PLOT.bottom - (amount / highest) * (PLOT.bottom - PLOT.top);
  const each = 100 / days.length;
  const share = shape === 'days' ? BAR_SHARE : 1;
  const toDay = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    onDay(Math.max(0, Math.min(days.length - 1, Math.floor(((clientX - left) / width) * days.length))));
  };
  return html`<div class="usage-picture" aria-hidden="true">
    <ol>
      ${ticks.toReversed().map((tick) => html`<li key=${tick}>${moneyText(tick.toFixed(DIGITS), currency)}</li>`)}
    </ol>
    <svg class="plot" width="100%" height=${PLOT.height} focusable="false" onPointerMove=${toDay}>
      <rect class="marked" x=${toShare(marked * each)} width=${toShare(each)} y="0" height=${PLOT.bottom} />
      ${ticks.map((tick) => html`<line key=${tick} class="grid" x1="0" x2="100%" y1=${toY(tick)} y2=${toY(tick)} />`)}
      ${stacks.map((tops, series) =>
        tops.map((top, day) => {
          if (top === null || top <= 0) return null;
          const left = (day + (1 - share) / 2) * each;
          return html`<rect
            class=${`series-${series % COLOURS}`}
            x=${toShare(left)}
            width=${toShare(each * share)}
            y=${toY(top)}
            height=${PLOT.bottom - toY(top)}
          />`;
        }),
      )}
      ${projection === undefined ? null : renderLine('projection', projection, each, toY)}
      ${budget === undefined ? null : renderLine('budget', budget, each, toY)}
      ${chooseDays(days.length).map(
        (day) =>
          html`<text key=${day} x=${toShare((day + 0.5) * each)} y=${PLOT.height - 10}>
            ${AXIS_DAY.format(new Date(days[day] ?? 0))}
          </text>`,
      )}
    </svg>
  </div>`;
}

/** A share of the width, to a hundredth of a percent. */
function toShare(percent: number): string {
  return `${Math.round(percent * 100) / 100}%`;
}

/** Joins the points of a line from the middle of a day to that of the next. */
function renderLine(
  style: string,
  points: readonly (number | null)[],
  each: number,
  toY: (amount: number) => number,
): readonly (VNode | null)[] {
  return points.slice(1).map((to, day) => {
    const from = points[day] ?? null;
    return from === null || to === null
      ? null
      : html`<line
          class=${style}
          x1=${toShare((day + 0.5) * each)}
          x2=${toShare((day + 1.5) * each)}
          y1=${toY(from)}
          y2=${toY(to)}
        />`;
  });
}

/** Round amounts from zero to the highest or a little above it, at equal distances. */
export function chooseTicks(highest: number): readonly number[] {
  if (highest <= 0) return [0, 1];
  const least = highest / TICKS_MAX;
  const unit = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5, 10].find((times) => times * unit >= least) ?? 10) * unit;
  return Array.from({ length: Math.ceil(highest / step) + 1 }, (_, at) => at * step);
}

/** The places of the days that are named below: at equal distances, and no more than have room. */
export function chooseDays(count: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / DAYS_MAX));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}
