import type { VNode } from 'preact';
import type { PageProps } from '../../frame.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { moneyText, shareText, sumDecimals } from '../../parts/number-text.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { PeriodFilters } from '../../parts/period-fields.tsx';
import { parsePeriod } from '../../parts/period.ts';
import type { Period } from '../../parts/period.ts';
import { SelectField } from '../../parts/select-field.tsx';
import { Stats } from '../../parts/stats.tsx';
import type { Stat } from '../../parts/stats.tsx';
import { setQuery } from '../../state/address.ts';
import { serverNow } from '../../state/api.ts';
import { sendCall, toCall } from '../../state/calls.ts';
import { useRead } from '../../state/use-view.ts';
import { marginsWords as words } from './margins-words.ts';
import { addUpMargins, toMarginsRequest } from './parts/margin-sums.ts';
import type { CurrencyMargins, MarginSplit, MarginsView } from './parts/margin-sums.ts';
import { MarginsChart } from './parts/margins-chart.tsx';
import { GroupTable, PartTable, renderMargin } from './parts/margins-table.tsx';

const SPLITS: readonly MarginSplit[] = ['channel', 'model', 'account'];

export function page({ query }: PageProps): VNode {
  const period = parsePeriod(query, serverNow());
  const split = SPLITS.find((one) => one === query.get('split')) ?? 'channel';
  const key = query.get('key') ?? '';
  const asked = new URLSearchParams({ ...period, split, ...(key === '' ? {} : { key }) });
  const question = { period, split, key };
  const view = useRead({
    key: JSON.stringify(question),
    // the answer belongs to this question, whatever the address says when it is drawn
    read: async ({ signal }) => {
      const call = toCall('billing.AccountService/GetMargins', toMarginsRequest(question));
      return addUpMargins(question, await sendCall(call, signal), serverNow());
    },
  });
  return (
    <>
      <PageTitle title={words.title} back={{ href: '/console/money', name: words.back }} lead={words.lead} />
      <MarginFilters period={period} split={split} view={view.data} query={query} />
      <Loaded view={view} shape={{ of: 'cards', count: 4 }}>
        {(margins) => <MarginsReport view={margins} query={query} asked={asked} />}
      </Loaded>
    </>
  );
}

interface MarginFiltersProps {
  readonly period: Period;
  readonly split: MarginSplit;
  /** Undefined while it is read. */
  readonly view: MarginsView | undefined;
  readonly query: URLSearchParams;
}

function MarginFilters({ period, split, view, query }: MarginFiltersProps): VNode {
  const currencies = view?.currencies ?? [];
  return (
    <PeriodFilters names={words} period={period}>
      <SelectField
        label={words.split}
        value={split}
        options={SPLITS.map((value) => ({ value, name: words.splits[value] }))}
        onChange={(value) => setQuery({ split: value, key: '' })}
      />
      {currencies.length > 1 ? (
        <SelectField
          label={words.currency}
          value={chooseCurrency(currencies, query)?.currency ?? ''}
          options={currencies.map(({ currency }) => ({ value: currency, name: currency }))}
          onChange={(value) => setQuery({ currency: value })}
        />
      ) : null}
    </PeriodFilters>
  );
}

export interface MarginsReportProps {
  readonly view: MarginsView;
  /** The query of the page. */
  readonly query: URLSearchParams;
  /** The query of the file. */
  readonly asked: URLSearchParams;
}

export function MarginsReport({ view, query, asked }: MarginsReportProps): VNode {
  const { currencies, split, key, bucket } = view;
  const shown = chooseCurrency(currencies, query);
  const all = new URLSearchParams(query);
  all.delete('key');
  return (
    <>
      {key === '' ? null : (
        <p class="actions filter-actions">
          <span>
            {words.only[split]} <strong class="id">{key}</strong>
          </span>
          <a class="button quiet" href={`/console/money/margins?${all.toString()}`}>
            {words.showAll}
          </a>
        </p>
      )}
      {shown === undefined ? (
        <EmptyState
          title={words.empty}
          text={words.emptyText}
          action={
            <>
              <a class="button" href="/console/channels">
                {words.channels}
              </a>
              <a class="button" href="/console/configuration">
                {words.configuration}
              </a>
            </>
          }
        />
      ) : (
        <>
          <MarginStats margins={shown} />
          {hasNoCost(shown) ? <p class="note">{words.noCost}</p> : <MarginsChart view={view} margins={shown} />}
          <h2>{words.groups[split]}</h2>
          <GroupTable view={view} margins={shown} query={query} />
          <h2>{words.parts[bucket]}</h2>
          <PartTable view={view} margins={shown} />
          <p class="actions">
            <a
              class="button"
              href={`/console/api/money/margins.csv?${asked.toString()}`}
              download="reelgate-margins.csv"
            >
              {words.csv}
            </a>
          </p>
        </>
      )}
    </>
  );
}

/** The currency in the address, or the currency with the most work. Undefined if there was no work. */
function chooseCurrency(currencies: readonly CurrencyMargins[], query: URLSearchParams): CurrencyMargins | undefined {
  return (
    currencies.find(({ currency }) => currency === query.get('currency')) ??
    currencies.toSorted((one, other) => other.total.requests - one.total.requests)[0]
  );
}

function hasNoCost({ total: { measured, estimated } }: CurrencyMargins): boolean {
  return measured.requests + estimated.requests === 0;
}

function MarginStats({ margins: { total, currency } }: { margins: CurrencyMargins }): VNode {
  const text = (amount: string): string => moneyText(amount, currency);
  const share = shareText(total.margin, total.charged);
  const stats: readonly Stat[] = [
    {
      name: words.margin,
      value: renderMargin(total.margin, currency),
      ...(share === undefined ? {} : { note: words.marginNote(share) }),
    },
    { name: words.charged, value: text(total.charged), note: words.chargedNote },
    {
      name: words.cost,
      value: text(sumCosts(total)),
      note: words.costNote(text(total.measured.cost), text(total.estimated.cost)),
    },
    total.unknown.requests === 0
      ? { name: words.unknown, value: words.none, note: words.unknownNone }
      : { name: words.unknown, value: text(total.unknown.charged), note: words.unknownNote },
  ];
  return <Stats stats={stats} />;
}

function sumCosts({ measured, estimated }: CurrencyMargins['total']): string {
  return sumDecimals([measured.cost, estimated.cost]);
}
