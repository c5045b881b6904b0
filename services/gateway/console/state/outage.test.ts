import { expect, test } from '@jest/globals';
import { isOutage, judgeOutage, retryDelay } from './outage.ts';
import type { FailedRead, Outage } from './outage.ts';

const failed = (status: number, startedAt: number, goodAt?: number): FailedRead => ({ status, startedAt, goodAt });

test.each<[string, FailedRead[], number | undefined, Outage | undefined]>([
  ['nothing failed', [], 100, undefined],
  ['no answer since', [failed(0, 110, 90)], 100, { kind: 'silent', status: 0, since: 100 }],
  ['no answer ever', [failed(0, 110)], undefined, { kind: 'silent', status: 0, since: undefined }],
  [
    'no answer to one, an error before to another',
    [failed(503, 90, 80), failed(0, 110)],
    100,
    {
      kind: 'silent',
      status: 0,
      since: 100,
    },
  ],
  ['no answer in time while others are answered', [failed(0, 90, 80)], 100, { kind: 'slow', status: 0, since: 80 }],
  ['an error', [failed(503, 110, 80)], 110, { kind: 'failing', status: 503, since: 80 }],
  ['an error of what was never read', [failed(503, 110)], 110, { kind: 'failing', status: 503, since: undefined }],
  ['two errors', [failed(502, 110, 80), failed(503, 110, 70)], 110, { kind: 'failing', status: 502, since: 70 }],
])('%s', (_what, reads, heardAt, outage) => {
  expect(judgeOutage(reads, heardAt)).toEqual(outage);
});

test.each([
  [0, true],
  [400, false],
  [401, false],
  [404, false],
  [429, false],
  [500, true],
  [501, false],
  [503, true],
])('a read that ends with %d is an outage: %p', (status, is) => {
  expect(isOutage({ status })).toBe(is);
});

test('tries come at growing distances, at most fifteen seconds apart, and pages spread theirs', () => {
  const delays = [1, 2, 3, 4, 5, 50].map((failures) => retryDelay(failures, 0));

  expect(delays).toEqual([2000, 4000, 8000, 15_000, 15_000, 15_000]);
  expect([retryDelay(1, 1), retryDelay(50, 1)]).toEqual([1200, 9000]);
});
