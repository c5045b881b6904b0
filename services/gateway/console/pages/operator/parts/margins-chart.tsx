import type { VNode } from 'preact';
import { nameMarginGroup } from './margin-sums.ts';
import type { CurrencyMargins, MarginsView } from './margin-sums.ts';
import { BarChart, COLOURS } from '../../../parts/bar-picture.tsx';
import type { PictureData, Points } from '../../../parts/bar-picture.tsx';
import { moneyText, sumDecimals } from '../../../parts/number-text.tsx';
import { marginsWords as words } from '../margins-words.ts';

/** The last colour is that of all others together. */
const SERIES_MAX = COLOURS - 1;
const AXIS_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const ISO_DAY_CHARACTERS = 10;
const ISO_MINUTE_CHARACTERS = 16;

/** The margins of a group, or of all that have no colour of their own. */
export interface MarginSeries {
  readonly name: string;
  readonly style: string;
  readonly measured: readonly string[];
  readonly estimated: readonly string[];
}

export interface MarginsChartProps {
  readonly view: MarginsView;
  readonly margins: CurrencyMargins;
}

/** The margin of each hour or day, a colour for each group, and a loss below zero. The tables have the same numbers. */
export function MarginsChart({ view, margins }: MarginsChartProps): VNode {
  const { parts, bucket } = view;
  const { currency } = margins;
  const series = toSeries(margins);
  const name = (place: number): string => namePart(parts[place] ?? 0, bucket);
  return (
    <>
      <BarChart
        data={toPicture(view, series)}
        currency={currency}
        count={parts.length}
        label={words.chart(name(0), name(parts.length - 1))}
        help={words.chartHelp[bucket]}
        first={findLastBegun(view)}
        describe={(place) => describePlace(name(place), series, place, currency).join(', ')}
        readOut={(place) => <Readout name={name(place)} series={series} place={place} currency={currency} />}
      />
      <p class="readout small quiet">
        <span>
          <i class="swatch series-5" />
          {words.keyMeasured}
        </span>
        <span>
          <i class="swatch series-5 estimated" />
          {words.keyEstimated}
        </span>
      </p>
    </>
  );
}

/** The part in which the answer was made; the last one if that is over. */
function findLastBegun({ parts, now }: MarginsView): number {
  return Math.max(0, parts.filter((at) => at <= now).length - 1);
}

/** The style of a group in the chart and in the table. */
export function chooseStyle(at: number, { isRest }: { readonly isRest: boolean }): string {
  return `series-${isRest ? SERIES_MAX : Math.min(at, SERIES_MAX)}`;
}

/** One series for each of the largest groups, and one for all others. */
export function toSeries({ groups }: Pick<CurrencyMargins, 'groups'>): readonly MarginSeries[] {
  const byStyle = Map.groupBy(
    groups.map((group, at) => ({ group, style: chooseStyle(at, group) })),
    ({ style }) => style,
  );
  return [...byStyle].map(([style, own]) => {
    const [first] = own;
    return {
      name: first !== undefined && own.length === 1 ? nameMarginGroup(first.group) : words.rest,
      style,
      measured: addUp(own.map(({ group }) => group.measured)),
      estimated: addUp(own.map(({ group }) => group.estimated)),
    };
  });
}

function addUp(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = lists;
  return first.map((_, at) => sumDecimals(lists.map((list) => list[at] ?? '0')));
}

/** Stacks gains one upon the other above zero, and losses one under the other below it. */
export function stackMargins(series: readonly MarginSeries[]): Required<Pick<PictureData, 'stacks' | 'styles'>> {
  const layers = series.flatMap(({ style, measured, estimated }) => [
    { style, amounts: measured },
    { style: `${style} estimated`, amounts: estimated },
  ]);
  const gains: number[] = [];
  const losses: number[] = [];
  const stacks = layers.map(({ amounts }): Points =>
    amounts.map((text, place) => {
      const amount = Number(text);
      if (amount === 0) return null;
      const ends = amount > 0 ? gains : losses;
      ends[place] = (ends[place] ?? 0) + amount;
      return ends[place];
    }),
  );
  return { stacks: stacks.toReversed(), styles: layers.map(({ style }) => style).toReversed() };
}

function toPicture({ parts, bucket }: MarginsView, series: readonly MarginSeries[]): PictureData {
  return {
    places: parts.map((at) => (bucket === 'day' ? AXIS_DAY.format(new Date(at)) : formatHour(at))),
    ...stackMargins(series),
  };
}

function formatHour(at: number): string {
  return new Date(at).toISOString().slice('yyyy-mm-ddT'.length, ISO_MINUTE_CHARACTERS);
}

/** The day as 2026-11-30, or the hour as 2026-11-30 14:00. */
export function namePart(at: number, bucket: MarginsView['bucket']): string {
  const text = new Date(at).toISOString();
  return bucket === 'day' ? text.slice(0, ISO_DAY_CHARACTERS) : text.slice(0, ISO_MINUTE_CHARACTERS).replace('T', ' ');
}

interface ReadoutProps {
  readonly name: string;
  readonly series: readonly MarginSeries[];
  readonly place: number;
  readonly currency: string;
}

function Readout({ name, series, place, currency }: ReadoutProps): VNode {
  const [total, ...parts] = describePlace(name, series, place, currency);
  const styles = listShown(series, place).map(({ style }) => style);
  return (
    <>
      <strong>{total}</strong>
      {parts.map((text, at) => (
        <span key={styles[at]}>
          <i class={`swatch ${styles[at] ?? ''}`} />
          {text}
        </span>
      ))}
    </>
  );
}

/** The margin of the place, and then that of each series which has one. */
function describePlace(
  name: string,
  series: readonly MarginSeries[],
  place: number,
  currency: string,
): readonly string[] {
  const text = (amount: string): string => moneyText(amount, currency);
  const part = (amount = '0', describe: (text: string) => string): readonly string[] =>
    Number(amount) === 0 ? [] : [describe(text(amount))];
  const all = sumDecimals(
    series.flatMap(({ measured, estimated }) => [measured[place] ?? '0', estimated[place] ?? '0']),
  );
  return [
    words.placeTotal(name, text(all)),
    ...listShown(series, place).map((one) =>
      words.placePart(one.name, [
        ...part(one.measured[place], words.measuredPart),
        ...part(one.estimated[place], words.estimatedPart),
      ]),
    ),
  ];
}

function listShown(series: readonly MarginSeries[], place: number): readonly MarginSeries[] {
  return series.filter(({ measured, estimated }) =>
    [measured[place], estimated[place]].some((one) => Number(one) !== 0),
  );
}
