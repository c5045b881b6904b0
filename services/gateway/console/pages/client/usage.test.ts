import { describe, expect, test } from '@jest/globals';
import { render } from 'preact-render-to-string';
import type { UsageView } from '../../api/usage.ts';
import { html } from '../../html.ts';
import { parsePeriod, resolvePreset } from './parts/usage-query.ts';
import { stackSeries } from './parts/usage-chart.ts';
import { UsageReport } from './usage.ts';

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
    ]).toEqual([
      { from: '2026-01-01', to: '2026-01-31' },
      { from: '2026-11-01', to: '2026-11-30' },
    ]);
  });
});

test('the bars of a day stand one upon the other, the highest first', () => {
  expect(stackSeries(usage).bars).toEqual([
    [0.4, 0, 1.2 + 0.000000001],
    [0.4, 0, 1.2],
  ]);
});

test('the table has every amount exactly, and no day without a charge', () => {
  const text = render(html`<${UsageReport} usage=${usage} period=${resolvePreset('last7', NOW)} />`);

  expect(text).toContain('$1.600000001');
  expect(text).toContain('$0.000000001');
  expect(text).toContain('2026-11-28');
  expect(text).not.toContain('2026-11-29');
  expect(text).toContain('group_by=day&amp;format=csv');
});
