import { expect, test } from '@jest/globals';
import { readRetryAfterMs } from './read-asked-wait.ts';
import type { WaitHeaders } from './read-asked-wait.ts';

const MOST_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 1);
const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT';

test.each<[string, WaitHeaders, number]>([
  ['seconds', { 'retry-after': '120' }, 120_000],
  ['seconds with spaces', { 'retry-after': ' 7 ' }, 7000],
  ['no seconds', { 'retry-after': '0' }, 0],
  ['a day and more', { 'retry-after': '86401' }, MOST_MS],
  ['a very large number', { 'retry-after': '999999999999999' }, MOST_MS],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60_000],
  ['a date by the clock of the receiver', { 'retry-after': DATE, date: 'Wed, 31 Dec 2025 23:59:50 GMT' }, 10_000],
  ['a date of the old form', { 'retry-after': 'Thursday, 01-Jan-26 00:01:00 GMT' }, 60_000],
  ['a date beside a wrong clock', { 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT', date: 'now' }, 60_000],
  ['a date in the past', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  ['a date in many years', { 'retry-after': 'Thu, 01 Jan 2099 00:00:00 GMT' }, MOST_MS],
  ['nothing', {}, 0],
  ['an empty text', { 'retry-after': '' }, 0],
  ['a negative number', { 'retry-after': '-5' }, 0],
  ['a fraction', { 'retry-after': '1.5' }, 1500],
  ['milliseconds', { 'retry-after-ms': '20', 'retry-after': '1' }, 20],
  ['a number with a unit', { 'retry-after': '5 s' }, 0],
  ['a year', { 'retry-after': '2099-01-01' }, 0],
  ['two values', { 'retry-after': ['1', '2'] }, 0],
])('a receiver that asks with %s', (_what, headers, expected) => {
  expect(readRetryAfterMs(headers, { now: NOW, mostMs: MOST_MS })).toBe(expected);
});
