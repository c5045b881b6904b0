import { describe, expect, test } from '@jest/globals';
import { render } from 'preact-render-to-string';
import type { UsageView } from '../../api/usage.ts';
import { parsePeriod, resolvePreset } from '../../parts/period.ts';
import { buildChart, stackSeries } from './parts/usage-chart.tsx';
import { findPlaceByKey } from '../../parts/bar-picture.tsx';
import { changeText, describeChange, UsageReport } from './usage.tsx';

const NOW = Date.parse('2026-11-30T12:00:00Z');
const sums = (amount: string, requests: number) => ({
  amount,
  requests,
  seconds: 5 * requests,
  inputTokens: 0,
  outputTokens: 0,
  images: 0,
});
const usage: UsageView = {
  currency: 'USD',
  from: 0,
  to: 1,
  split: 'model',
  days: ['2026-11-28', '2026-11-29', '2026-11-30'],
  series: [
    { key: 'Alpha-H3', name: '', amounts: ['0.4', '0', '1.2'], total: sums('1.6', 4) },
    { key: 'Beta-V1', name: '', amounts: ['0', '0', '0.000000001'], total: sums('0.000000001', 1) },
  ],
  total: sums('1.600000001', 5),
  isTruncated: false,
};

describe('the period', () => {
  test.each([
    ['last7', '2026-11-24', '2026-11-30'],
    ['month', '2026-11-01', '2026-11-30'],
    ['before', '2026-10-01', '2026-10-31'],
  ] as const)('of the preset %s is whole days', (preset, from, to) => {
    expect(resolvePreset(preset, NOW)).toEqual({ from, to });
  });

  test('is the one of the address, or the last 30 days', () => {
    expect([
      parsePeriod(new URLSearchParams('from=2026-01-01&to=2026-01-31'), NOW),
      parsePeriod(new URLSearchParams(), NOW),
      parsePeriod(new URLSearchParams('to=2026-01-31'), NOW),
      parsePeriod(new URLSearchParams('from=2026-01-01T07:00:00Z&to=soon'), NOW),
    ]).toEqual([
      { from: '2026-01-01', to: '2026-01-31' },
      { from: '2026-11-01', to: '2026-11-30' },
      { from: '2026-01-02', to: '2026-01-31' },
      { from: '2026-01-01', to: 'soon' },
    ]);
  });
});

test('the bars of a day stand one upon the other, the highest first', () => {
  expect(stackSeries(usage)).toEqual([
    [0.4, 0, 1.2 + 0.000000001],
    [0.4, 0, 1.2],
  ]);
});

test('the table has every amount exactly, and no day without a charge', () => {
  const text = render(<UsageReport usage={usage} period={resolvePreset('last7', NOW)} shape="days" />);

  expect(text).toContain('$1.600000001');
  expect(text).toContain('$0.000000001');
  expect(text).toContain('2026-11-28');
  expect(text).not.toContain('2026-11-29');
  expect(text).toContain('group_by=day&amp;split_by=model&amp;format=csv');
  expect(text).toContain('/v1/usage/items?from=2026-11-24&amp;to=2026-11-30&amp;format=csv');
});

test('what has no label is named, and is no total', () => {
  const byLabel: UsageView = {
    ...usage,
    split: 'label',
    series: [
      { key: 'spring', name: '', amounts: ['0.4', '0', '1.2'], total: sums('1.6', 4) },
      { key: '', name: '', amounts: ['0', '0', '0.000000001'], total: sums('0.000000001', 1) },
    ],
  };
  const text = render(<UsageReport usage={byLabel} period={resolvePreset('last7', NOW)} shape="days" />);

  expect(text).toContain('Charges by label');
  expect(text).toContain('spring');
  expect(text.match(/without a label/g)!.length).toBeGreaterThan(1);
  expect(text).toContain('split_by=label&amp;format=csv');
});

const before = (amount: string, amounts: Readonly<Record<string, string>> = {}) => ({
  from: 0,
  to: 0,
  total: sums(amount, 1),
  amounts,
});

describe('the period before', () => {
  test.each([
    ['1.6', '0.8', '100.0 % more than in the 3 days before ($0.80)'],
    ['0.6', '0.8', '25.0 % less than in the 3 days before ($0.80)'],
    ['0.8', '0.8', 'as much as in the 3 days before'],
    ['0.8', '0', 'nothing was charged in the 3 days before'],
  ])('is compared in words: %s after %s', (amount, then, text) => {
    expect(describeChange(amount, before(then), 3, 'USD')).toBe(text);
  });

  test.each([
    ['0.5', '0.4', '+25.0 %'],
    ['0.3', '0.4', '−25.0 %'],
    ['0.3', '0', undefined],
  ])('is compared as a share: %s after %s', (amount, then, text) => {
    expect(changeText(amount, then)).toBe(text);
  });

  test('stands in the table beside each series', () => {
    const view = { ...usage, before: before('0.8', { 'Alpha-H3': '0.8' }) };
    const text = render(<UsageReport usage={view} period={resolvePreset('last7', NOW)} shape="days" />);

    expect(text).toContain('+100.0 %');
  });
});

describe('the sums', () => {
  const usd = (amount: string) => ({ amount, currency: 'USD' });
  const budget = { free: usd('2'), perDay: usd('0.5'), reachedAt: Date.parse('2026-12-04T12:00:00Z') };

  test('go on at the pace of the last days until the money is spent', () => {
    const { days, stacks, projection, budget: line } = buildChart({ ...usage, budget }, 'sum', NOW);

    expect(days.at(-1)).toBe('2026-12-04');
    expect(stacks[1]).toEqual([0.4, 0.4, 1.6, null, null, null, null]);
    expect(projection?.[1]).toBeNull();
    expect(projection?.at(-1)).toBeCloseTo(3.6, 6);
    expect(line?.every((level) => Math.abs((level ?? 0) - 3.6) < 1e-6)).toBe(true);
  });

  test('of a period in the past have no projection', () => {
    const chart = buildChart({ ...usage, budget }, 'sum', NOW + 40 * 24 * 60 * 60 * 1000);

    expect(chart).not.toHaveProperty('projection');
    expect(chart.days).toEqual(usage.days);
  });

  test('go on for no longer than the period, but at least a week', () => {
    const slow = { free: usd('2000'), perDay: usd('0.5') };

    expect(buildChart({ ...usage, budget: slow }, 'sum', NOW).days).toHaveLength(3 + 7);
  });

  test('have no line far above them, which would press them to the ground', () => {
    const slow = { free: usd('2000'), perDay: usd('0.5') };

    expect(buildChart({ ...usage, budget: slow }, 'sum', NOW)).not.toHaveProperty('budget');
  });
});

test.each([
  ['ArrowLeft', 3, 2],
  ['ArrowRight', 3, 4],
  ['ArrowLeft', 0, 0],
  ['PageDown', 3, 0],
  ['PageUp', 3, 9],
  ['Home', 3, 0],
  ['End', 3, 9],
  ['a', 3, undefined],
])('the key %s leads in the chart from day %d to %s', (key, day, to) => {
  expect(findPlaceByKey(key, day, 10)).toBe(to);
});

test('nothing charged teaches what will be here', () => {
  const none = { ...usage, series: [], total: sums('0', 0) };
  const text = render(<UsageReport usage={none} period={resolvePreset('last7', NOW)} shape="days" />);

  expect(text).toContain('a failed one is not charged');
  expect(text).toContain('href="/console/try"');
});
