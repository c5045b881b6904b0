import { expect, test } from '@jest/globals';
import { addUpMargins, toMarginsRequest } from './margin-sums.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST = Date.UTC(2026, 0, 1);
const period = { from: '2026-01-01', to: '2026-01-03' };
const NOTHING = {
  ...{ requests: '0', chargedNanos: '0', costNanos: '0' },
  ...{ reportedRequests: '0', reportedChargedNanos: '0', reportedCostNanos: '0' },
  ...{ uncostedRequests: '0', uncostedChargedNanos: '0' },
};
/** Two requests with a known cost, of which one was reported, and one without. */
const SUM = {
  ...{ requests: '2', chargedNanos: '800000000', costNanos: '950000000' },
  ...{ reportedRequests: '1', reportedChargedNanos: '400000000', reportedCostNanos: '300000000' },
  ...{ uncostedRequests: '1', uncostedChargedNanos: '70000000' },
};
const LOSS = { ...NOTHING, requests: '1', costNanos: '50000000', reportedRequests: '1', reportedCostNanos: '50000000' };
const group = (key: string, currency: string, day: number, sum: typeof SUM, rest = false) => ({
  ...{ key, rest, currency, total: sum },
  parts: [{ beginsAt: new Date(FIRST + day * DAY_MS).toISOString(), sum }],
});

test('the margins of a period tell apart what is measured, estimated and unknown, by currency', () => {
  const groups = [group('one', 'EUR', 0, LOSS), group('one', 'USD', 1, SUM), group('', 'USD', 0, LOSS, true)];
  const view = addUpMargins({ period, split: 'channel', key: '' }, { groups }, FIRST);
  const nothing = { requests: 0, charged: '0', cost: '0', margin: '0' };

  expect(view).toMatchObject({ split: 'channel', bucket: 'day' });
  expect(view.parts).toEqual([0, 1, 2].map((day) => FIRST + day * DAY_MS));
  expect(view.currencies).toMatchObject([{ currency: 'EUR' }, { currency: 'USD' }]);
  expect(view.currencies[1]).toMatchObject({
    groups: [
      {
        ...{ key: 'one', isRest: false },
        total: {
          measured: { requests: 1, charged: '0.4', cost: '0.3', margin: '0.1' },
          estimated: { requests: 1, charged: '0.4', cost: '0.65', margin: '-0.25' },
          unknown: { requests: 1, charged: '0.07' },
          ...{ charged: '0.8', margin: '-0.15', requests: 3 },
        },
        measured: ['0', '0.1', '0'],
        estimated: ['0', '-0.25', '0'],
      },
      { key: '', isRest: true, measured: ['-0.05', '0', '0'], estimated: ['0', '0', '0'] },
    ],
    total: { charged: '0.8', margin: '-0.2', requests: 4 },
    byPart: [{ margin: '-0.05' }, { margin: '-0.15' }, { margin: '0', measured: nothing, estimated: nothing }],
  });
});

test.each([
  [period, 'MARGIN_BUCKET_DAY', '2026-01-04T00:00:00.000Z'],
  [{ from: '2026-01-01', to: '2026-01-02' }, 'MARGIN_BUCKET_HOUR', '2026-01-03T00:00:00.000Z'],
])('the period %j is asked for whole, by hours if it is short', (asked, bucket, to) => {
  expect(toMarginsRequest({ period: asked, split: 'model', key: 'demo' })).toMatchObject({
    ...{ from: '2026-01-01T00:00:00.000Z', to, bucket },
    ...{ splitBy: 'MARGIN_SPLIT_MODEL', key: 'demo', limit: 20 },
  });
});
