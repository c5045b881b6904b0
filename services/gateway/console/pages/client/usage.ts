import type { UsageSeries, UsageSums, UsageView } from '../../api/usage.ts';
import { setQuery } from '../../state/address.ts';
import { serverNow } from '../../state/server-clock.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { DataTable } from '../../parts/data-table.ts';
import type { Column } from '../../parts/data-table.ts';
import { Loaded } from '../../parts/loaded.ts';
import { moneyText } from '../../parts/number-text.ts';
import { UsageChart } from './parts/usage-chart.ts';
import { PRESETS, parsePeriod, resolvePreset, parseSplit } from './parts/usage-query.ts';
import type { Period } from './parts/usage-query.ts';
import { usageWords as words } from './usage-words.ts';

/** No count of usage needs more of a name. */
const COUNTS = ['requests', 'seconds', 'inputTokens', 'outputTokens', 'images'] as const;

export function page({ query }: PageProps): VNode {
  const period = parsePeriod(query, serverNow());
  const split = parseSplit(query);
  const view = useView<UsageView>(`/usage?${new URLSearchParams({ ...period, split }).toString()}`);
  return html`<${PageTitle} title=${words.title} />
    <${Presets} period=${period} />
    <${UsageFilters} period=${period} split=${split} />
    <${Loaded} view=${view}>${(usage: UsageView) => html`<${UsageReport} usage=${usage} period=${period} />`}<//>`;
}

function Presets({ period }: { period: Period }): VNode {
  return html`<div class="presets" role="group" aria-label=${words.period}>
    ${PRESETS.map((preset) => {
      const own = resolvePreset(preset, serverNow());
      return html`<button
        key=${preset}
        type="button"
        aria-pressed=${own.from === period.from && own.to === period.to ? 'true' : 'false'}
        onClick=${() => {
          setQuery({ ...own });
        }}
      >
        ${words.presets[preset]}
      </button>`;
    })}
  </div>`;
}

function UsageFilters({ period, split }: { period: Period; split: 'model' | 'token' }): VNode {
  const change = (name: string) => (event: Event) => {
    setQuery({ [name]: (event.currentTarget as HTMLInputElement).value });
  };
  return html`<form class="filters" role="search" onSubmit=${(event: SubmitEvent) => event.preventDefault()}>
    <div>
      <label for="from">${words.from}</label>
      <input id="from" type="date" value=${period.from} max=${period.to} onChange=${change('from')} />
    </div>
    <div>
      <label for="to">${words.to}</label>
      <input id="to" type="date" value=${period.to} min=${period.from} onChange=${change('to')} />
    </div>
    <div>
      <label for="split">${words.split}</label>
      <select id="split" value=${split} onChange=${change('split')}>
        ${Object.entries(words.splits).map(([value, name]) => html`<option value=${value} selected=${value === split}>${name}</option>`)}
      </select>
    </div>
  </form>`;
}

export function UsageReport({ usage, period }: { usage: UsageView; period: Period }): VNode {
  const { series, total, currency, split, isTruncated } = usage;
  const csv = `/console/api/v1/usage?${new URLSearchParams({ ...period, group_by: 'day', format: 'csv' }).toString()}`;
  return html`
    <p class="figure">${moneyText(total.amount, currency)} <span class="unit">${words.spent}</span></p>
    ${isTruncated ? html`<p class="busy">${words.truncated}</p>` : null}
    ${
      series.length === 0
        ? html`<p class="quiet">${words.none}</p>`
        : html`<${UsageChart} usage=${usage} />
            <${SeriesTable} usage=${usage} />
            <h2>${words.byDay}</h2>
            <${DayTable} usage=${usage} />`
    }
    <p><a class="button" href=${csv} download>${words.csv}</a></p>
    <p class="spoken">${words.splits[split]}</p>
  `;
}

function SeriesTable({ usage }: { usage: UsageView }): VNode {
  const { series, total, currency, split } = usage;
  type Row = { readonly name: string; readonly key: string; readonly sums: UsageSums; readonly at: number | undefined };
  const rows: readonly Row[] = [
    ...series.map((one, at) => ({ name: nameSeries(one), key: one.key, sums: one.total, at })),
    { name: words.total, key: '', sums: total, at: undefined },
  ];
  const columns: readonly Column<Row>[] = [
    {
      name: words.splits[split],
      isHead: true,
      cell: ({ name, at }) =>
        html`${at === undefined ? null : html`<span class=${`swatch series-${(series.length - 1 - at) % 6}`} aria-hidden="true"></span>`}
        ${name}`,
    },
    { name: words.spent, isNumber: true, cell: ({ sums }) => moneyText(sums.amount, currency) },
    ...COUNTS.filter((count) => total[count] > 0).map((count) => ({
      name: words[count],
      isNumber: true,
      cell: ({ sums }: Row) => sums[count].toLocaleString('en'),
    })),
  ];
  return html`<h2>${words.sums[split]}</h2>
    <${DataTable} caption=${words.sums[split]} columns=${columns} rows=${rows} keyOf=${({ key }: Row) => key} />`;
}

function DayTable({ usage: { days, series, currency } }: { usage: UsageView }): VNode {
  const rows = days
    .map((day, at) => ({ day, at }))
    .filter(({ at }) => series.some(({ amounts }) => !isZero(amounts[at])));
  type Row = (typeof rows)[number];
  const columns: readonly Column<Row>[] = [
    { name: words.day, isHead: true, cell: ({ day }) => html`<time datetime=${day}>${day}</time>` },
    ...series.map((one) => ({
      name: nameSeries(one),
      isNumber: true,
      cell: ({ at }: Row) => (isZero(one.amounts[at]) ? '–' : moneyText(one.amounts[at] ?? '0', currency)),
    })),
  ];
  return html`<${DataTable} caption=${words.byDay} columns=${columns} rows=${rows} keyOf=${({ day }: Row) => day} />`;
}

function nameSeries({ key, name }: UsageSeries): string {
  return name === '' ? (key === '' ? words.unnamed : key) : name;
}

function isZero(amount: string | undefined): boolean {
  return amount === undefined || Number(amount) === 0;
}
