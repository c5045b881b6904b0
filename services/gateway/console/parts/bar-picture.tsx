import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { moneyText } from './number-text.tsx';

/** Colours that differ in brightness too; more series than these repeat them. */
export const COLOURS = 6;
/** In pixels. Everything across is in shares of the width, so nothing is measured or drawn again. */
const PLOT = { top: 12, bottom: 228, height: 260 };
/** The part of its place that a bar fills. */
const BAR_SHARE = 0.7;
const TICKS_MAX = 4;
const NAMES_MAX = 7;
/** An amount has no more digits after the point. */
const DIGITS = 9;

export type Points = readonly (number | null)[];

/** The numbers of a picture, one for each place. The tables have the exact amounts, so these may be rounded. */
export interface PictureData {
  /** The names of the places, from left to right. */
  readonly places: readonly string[];
  /**
   * The far ends of the parts of each bar, the farthest from zero first, so that each is drawn over the one before. What
   * is below zero hangs down.
   */
  readonly stacks: readonly Points[];
  /** The style of each stack. By default the stacks have one colour after the other. */
  readonly styles?: readonly string[];
  readonly lines?: readonly { readonly style: string; readonly points: Points }[];
}

export interface BarPictureProps {
  readonly data: PictureData;
  readonly currency: string;
  /** True: the bars touch each other. */
  readonly isJoined?: boolean;
  /** The place that is read out. */
  readonly marked: number;
  readonly onPlace: (place: number) => void;
}

/** The picture of amounts over time. The words and the tables beside it say the same. */
export function BarPicture({ data, currency, isJoined = false, marked, onPlace }: BarPictureProps): VNode {
  const { places, stacks, styles, lines = [] } = data;
  const amounts = [...stacks, ...lines.map(({ points }) => points)].flat().map((one) => one ?? 0);
  const ticks = chooseTicks(Math.max(0, ...amounts), Math.min(0, ...amounts));
  const [lowest = 0, highest = 1] = [ticks[0], ticks.at(-1)];
  const toY = (amount: number): number =>
    PLOT.bottom - ((amount - lowest) / (highest - lowest)) * (PLOT.bottom - PLOT.top);
  const each = 100 / places.length;
  const share = isJoined ? 1 : BAR_SHARE;
  const toPlace = ({ currentTarget, clientX }: PointerEvent): void => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect();
    onPlace(Math.max(0, Math.min(places.length - 1, Math.floor(((clientX - left) / width) * places.length))));
  };
  return (
    <div class="bar-picture" aria-hidden="true">
      <ol>
        {ticks.toReversed().map((tick) => (
          <li key={tick}>{moneyText(tick.toFixed(DIGITS), currency)}</li>
        ))}
      </ol>
      <svg class="plot" width="100%" height={PLOT.height} focusable="false" onPointerMove={toPlace}>
        <rect class="marked" x={toShare(marked * each)} width={toShare(each)} y="0" height={PLOT.bottom} />
        {ticks.map((tick) => (
          <line
            key={tick}
            class={tick === 0 && lowest < 0 ? 'grid zero' : 'grid'}
            x1="0"
            x2="100%"
            y1={toY(tick)}
            y2={toY(tick)}
          />
        ))}
        {stacks.map((ends, series) =>
          ends.map((end, place) => {
            if (end === null || end === 0) return null;
            const left = (place + (1 - share) / 2) * each;
            return (
              <rect
                class={styles?.[series] ?? `series-${series % COLOURS}`}
                x={toShare(left)}
                width={toShare(each * share)}
                y={toY(Math.max(end, 0))}
                height={Math.abs(toY(0) - toY(end))}
              />
            );
          }),
        )}
        {lines.map(({ style, points }) => renderLine(style, points, each, toY))}
        {choosePlaces(places.length).map((place) => (
          <text key={place} x={toShare((place + 0.5) * each)} y={PLOT.height - 10}>
            {places[place]}
          </text>
        ))}
      </svg>
    </div>
  );
}

/** A share of the width, to a hundredth of a percent. */
function toShare(percent: number): string {
  return `${Math.round(percent * 100) / 100}%`;
}

/** Joins the points of a line from the middle of a place to that of the next. */
function renderLine(
  style: string,
  points: Points,
  each: number,
  toY: (amount: number) => number,
): readonly (VNode | null)[] {
  return points.slice(1).map((to, place) => {
    const from = points[place] ?? null;
    return from === null || to === null ? null : (
      <line
        class={style}
        x1={toShare((place + 0.5) * each)}
        x2={toShare((place + 1.5) * each)}
        y1={toY(from)}
        y2={toY(to)}
      />
    );
  });
}

/** Round amounts at equal distances, zero among them, from the lowest to the highest or a little beyond. */
export function chooseTicks(highest: number, lowest = 0): readonly number[] {
  if (highest <= 0 && lowest >= 0) return [0, 1];
  const least = (highest - lowest) / TICKS_MAX;
  const unit = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5, 10].find((times) => times * unit >= least) ?? 10) * unit;
  const below = Math.ceil(-lowest / step);
  return Array.from({ length: below + Math.ceil(highest / step) + 1 }, (_, at) => (at - below) * step);
}

/** The places that are named below: at equal distances, and no more than have room. */
export function choosePlaces(count: number): readonly number[] {
  const step = Math.max(1, Math.ceil(count / NAMES_MAX));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}

interface BarChartProps {
  readonly data: PictureData;
  readonly currency: string;
  /** The number of places that can be chosen. The picture may have more. */
  readonly count: number;
  readonly label: string;
  /** Explains the keys. */
  readonly help: string;
  readonly isJoined?: boolean;
  /** The place that is selected at first. Defaults to the last place. */
  readonly first?: number;
  /** The amounts of a place as a screen reader hears them. */
  readonly describe: (place: number) => string;
  /** The same as it stands below the picture. */
  readonly readOut: (place: number) => VNode;
}

/** A picture of amounts over time. A pointer or the arrow keys select a place. The amounts of the place stand below. */
export function BarChart(props: BarChartProps): VNode {
  const { data, currency, count, label, help, isJoined = false, first = count - 1, describe, readOut } = props;
  const [chosen, setChosen] = useState(first);
  const shown = Math.min(chosen, count - 1);
  const move = (event: KeyboardEvent): void => {
    const to = findPlaceByKey(event.key, shown, count);
    if (to === undefined) return;
    event.preventDefault();
    setChosen(to);
  };
  return (
    <>
      <div
        class="chart"
        role="slider"
        tabindex={0}
        aria-label={label}
        aria-description={help}
        aria-valuemin={1}
        aria-valuemax={count}
        aria-valuenow={shown + 1}
        aria-valuetext={describe(shown)}
        onKeyDown={move}
      >
        <BarPicture data={data} currency={currency} isJoined={isJoined} marked={shown} onPlace={setChosen} />
      </div>
      <p class="readout small" aria-hidden="true">
        {readOut(shown)}
      </p>
    </>
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

const LEAPS: Readonly<Record<string, number>> = { PageUp: 7, PageDown: -7 };

/** The place that a key selects, or undefined if the key selects no place. */
export function findPlaceByKey(key: string, place: number, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const step = STEPS[key] ?? LEAPS[key];
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, place + step));
}
