import { expect, test } from '@jest/globals';
import { countChannelFaults, listAnswers, sumCounts, sumLastHour } from './channel-hour.ts';

const MINUTE_MS = 60_000;
const NOW = 1000 * MINUTE_MS + 30_000;
const NOTHING = {
  ...{ accepted: 0, refused: 0, unknown: 0, completed: 0, failed: 0, failedPolls: 0 },
  ...{ answerMsP50: 0, answerMsP95: 0 },
};
const aMinute = (ago: number, over: Partial<typeof NOTHING>) => ({
  ...NOTHING,
  ...over,
  minute: new Date((1000 - ago) * MINUTE_MS).toISOString(),
});

test('the last hour has sixty minutes, the running one last, and none that is older', () => {
  const minutes = [aMinute(60, { failed: 9 }), aMinute(59, { failed: 1 }), aMinute(0, { refused: 2, failedPolls: 1 })];

  expect(sumLastHour(minutes, NOW, countChannelFaults)).toEqual([1, ...Array.from({ length: 58 }, () => 0), 3]);
});

test('the counts of an hour are the sums of its minutes', () => {
  const minutes = [aMinute(1, { accepted: 3, unknown: 1 }), aMinute(0, { accepted: 2, failedPolls: 5 })];

  expect(sumCounts(minutes)).toEqual({
    ...{ accepted: 5, refused: 0, unknown: 1 },
    completed: 0,
    failed: 0,
    failedPolls: 5,
  });
});

test('a minute without an answer has no time to an answer', () => {
  const minutes = [aMinute(1, { answerMsP50: 90, answerMsP95: 400 }), aMinute(0, { refused: 1 })];

  expect(listAnswers(minutes)).toEqual([{ at: 999 * MINUTE_MS, p50: 90, p95: 400 }]);
});
