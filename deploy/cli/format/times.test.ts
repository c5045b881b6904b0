import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { relativeTime } from './times.ts';

const NOW = 1_790_000_000_000;

test.each([
  [0, '0s ago'],
  [-119_000, '119s ago'],
  [-120_000, '2m ago'],
  [-119 * 60_000, '119m ago'],
  [-47 * 3_600_000, '47h ago'],
  [-48 * 3_600_000, '2d ago'],
  [30 * 86_400_000, 'in 30d'],
])('%d ms from now is %s', (ms, text) => {
  expect(relativeTime(timestampFromMs(NOW + ms), NOW)).toBe(text);
});
