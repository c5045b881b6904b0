import { describe, expect, test } from '@jest/globals';
import { render } from 'preact-render-to-string';
import type { CurrencyMargins, MarginSums, MarginsView } from './parts/margin-sums.ts';
import { MarginsReport } from './margins.tsx';
import { stackMargins, toSeries } from './parts/margins-chart.tsx';

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST = Date.UTC(2026, 10, 29);
const NOTHING = { requests: 0, charged: '0', cost: '0', margin: '0' };
const EMPTY: MarginSums = {
  ...{ measured: NOTHING, estimated: NOTHING, unknown: { requests: 0, charged: '0' } },
  ...{ charged: '0', margin: '0', requests: 0 },
};
const SUMS: MarginSums = {
  measured: { requests: 1, charged: '2800', cost: '2240', margin: '560' },
  estimated: { requests: 2, charged: '320.4', cost: '341.02', margin: '-20.62' },
  unknown: { requests: 3, charged: '1.2' },
  ...{ charged: '3120.4', margin: '539.38', requests: 6 },
};
const LOSS: MarginSums = {
  ...EMPTY,
  measured: { ...NOTHING, requests: 1, cost: '5', margin: '-5' },
  margin: '-5',
  requests: 1,
};
const group = (key: string, total = SUMS, isRest = false) => ({
  ...{ key, isRest, total },
  ...{ measured: ['560', '0'], estimated: ['0', '-20.62'] },
});
const USD: CurrencyMargins = {
  currency: 'USD',
  groups: [group('east'), group('west', LOSS), group('', EMPTY, true)],
  total: SUMS,
  byPart: [SUMS, EMPTY],
};
const view: MarginsView = {
  ...{ split: 'channel', key: '', bucket: 'day' },
  ...{ parts: [FIRST, FIRST + DAY_MS], currencies: [USD], now: FIRST + DAY_MS + 1 },
};

const markup = (changes: Partial<MarginsView> = {}, query = ''): string =>
  render(
    <MarginsReport
      view={{ ...view, ...changes }}
      query={new URLSearchParams(query)}
      asked={new URLSearchParams('from=2026-11-29&split=channel')}
    />,
  );
const text = (...of: Parameters<typeof markup>): string =>
  markup(...of)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('the margins of a period', () => {
  test('tell apart what is measured, estimated and unknown, exactly', () => {
    expect(text()).toContain('east $3,120.40 $2,240.00 of 1 $341.02 of 2 $539.38 17.3 % 6 3, charged $1.20');
    expect(text()).toContain('Cost measured Cost estimated Margin Margin % Requests Cost unknown');
    expect(text()).toContain('$2,240.00 measured, $341.02 estimated');
  });

  test('have a loss that a word tells, and no share of nothing', () => {
    expect(text()).toContain('west $0.00 $5.00 of 1 – −$5.00 loss – 1 –');
  });

  test('have no row for a day with nothing', () => {
    expect(markup()).toContain('2026-11-29</time>');
    expect(markup()).not.toContain('2026-11-30</time>');
  });

  test.each([
    ['channel', '/console/channels/east'],
    ['account', '/console/accounts/east'],
    ['model', '/console/tasks?model=east'],
  ] as const)('by %s lead to its page', (split, href) => {
    expect(markup({ split })).toContain(`<a href="${href}">east</a>`);
  });

  test('of one group keep the rest of the address, and lead back to all', () => {
    expect(markup({}, 'from=2026-11-29')).toContain('href="/console/money/margins?from=2026-11-29&amp;key=east"');
    expect(markup({ key: 'east' }, 'from=2026-11-29&key=east')).toContain(
      'href="/console/money/margins?from=2026-11-29"',
    );
  });

  test('are a file of the same period', () => {
    expect(markup()).toContain('/console/api/money/margins.csv?from=2026-11-29&amp;split=channel');
  });

  test('of several currencies are shown one at a time, and the address says which', () => {
    const currencies = [{ ...USD, currency: 'EUR', total: LOSS }, USD];

    expect(text({ currencies })).toContain('$539.38');
    expect(text({ currencies }, 'currency=EUR')).toContain('€3,120.40');
  });

  test('without any known cost say how estimates begin', () => {
    const total = { ...EMPTY, requests: 3, unknown: { requests: 3, charged: '1.2' } };

    expect(text({ currencies: [{ ...USD, total }] })).toContain(
      'upstream prices in the configuration, and estimates begin',
    );
    expect(markup({ currencies: [{ ...USD, total }] })).not.toContain('role="slider"');
  });

  test('of a time without charges teach what will be here', () => {
    expect(text({ currencies: [] })).toContain('measured where the upstream reports what it charged');
    expect(markup({ currencies: [] })).toContain('href="/console/channels"');
  });

  test('are heard as the value of the chart', () => {
    expect(markup()).toContain('aria-valuetext="2026-11-30: −$61.86, east −$20.62 estimated, west');
  });
});

test('the first five groups have a colour of their own, and all others share one', () => {
  const groups = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => group(key));
  const series = toSeries({ groups: [...groups, group('', SUMS, true)] });

  expect(series.map(({ name, style, measured }) => [name, style, measured[0]])).toEqual([
    ...['a', 'b', 'c', 'd', 'e'].map((name, at) => [name, `series-${at}`, '560']),
    ['All others', 'series-5', '1120'],
  ]);
});

test('gains stand one upon the other, losses hang one under the other, and what is estimated is told by its style', () => {
  const { stacks, styles } = stackMargins([
    { name: 'a', style: 'series-0', measured: ['4', '-1'], estimated: ['2', '0'] },
    { name: 'b', style: 'series-1', measured: ['1', '-2'], estimated: ['-3', '5'] },
  ]);

  expect(styles).toEqual(['series-1 estimated', 'series-1', 'series-0 estimated', 'series-0']);
  expect(stacks).toEqual([
    [-3, 5],
    [7, -3],
    [6, null],
    [4, -1],
  ]);
});
