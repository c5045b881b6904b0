import { expect, test } from '@jest/globals';
import { parseTimestamp } from './timestamp.ts';

test.each([
  ['2026-11-01', Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 2)],
  ['2028-02-29', Date.UTC(2028, 1, 29), Date.UTC(2028, 2, 1)],
  ['2026-11-01T12:30:00Z', Date.UTC(2026, 10, 1, 12, 30), Date.UTC(2026, 10, 1, 12, 30)],
  ['2026-11-01T12:30:00.5+02:00', Date.UTC(2026, 10, 1, 10, 30, 0, 500), Date.UTC(2026, 10, 1, 10, 30, 0, 500)],
  ['2026-11-01T12:30:00 02:00', Date.UTC(2026, 10, 1, 10, 30), Date.UTC(2026, 10, 1, 10, 30)],
  ['1767225600', Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1)],
  ['0', 0, 0],
])('%s is a timestamp', (text, beginning, end) => {
  expect(parseTimestamp(text, 'beginning')).toBe(beginning);
  expect(parseTimestamp(text, 'end')).toBe(end);
});

test.each([
  '',
  'yesterday',
  '2026-02-30',
  '2026-13-01',
  '2026-2-3',
  '2026-02-30T00:00:00Z',
  '2026-01-01T25:00:00Z',
  '2026-01-01T00:00:00',
  '-5',
  '1e9',
  '1767225600.5',
  '123456789012',
])('"%s" is not a timestamp', (text) => {
  expect(parseTimestamp(text, 'beginning')).toBeUndefined();
});
