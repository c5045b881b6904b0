import { describe, expect, test } from '@jest/globals';
import { ASKED_WAIT_MS_MAX } from '@reelgate/platform/limits/read-asked-wait';
import { LISTED_WORKS, POLL_RESULT, SUBMISSION } from './result-shapes.ts';

const read = (report: object): unknown => POLL_RESULT({ found: true, report: { status: 's', ...report } }, 'poll');
const done = { phase: 'succeeded', status: 's' };

describe('a number of a result that is no count is left out', () => {
  test.each([1e300, 2 ** 53, -1, -100, 0.5])('%d', (number) => {
    const usage = { totalSeconds: number, inputImageCount: number, totalTokens: 7 };
    expect(read({ ...done, usage, costMicroUsd: number })).toEqual({
      found: true,
      report: { ...done, usage: { totalTokens: 7 } },
    });
    expect(read({ phase: 'running', progress: number })).toEqual({
      found: true,
      report: { phase: 'running', status: 's' },
    });
    expect(
      SUBMISSION({ outcome: 'refused', fault: 'throttle', error: 'x', retryAfterMs: number }, 'readSubmit'),
    ).toEqual({ outcome: 'refused', fault: 'throttle', error: 'x' });
  });

  test.each([1e300, 2 ** 53, -1])('as a time: %d', (time) => {
    expect(read({ ...done, endedAt: time, urlDiesAt: time })).toEqual({ found: true, report: done });
    expect(LISTED_WORKS([{ upstreamId: 'r-1', model: 'm', createdAt: time, duration: time }], 'list')).toEqual([
      { upstreamId: 'r-1', model: 'm', createdAt: 0 },
    ]);
  });
});

test('a usage without a known number is none', () => {
  expect(read({ ...done, usage: { totalSeconds: 0.5 } })).toEqual({ found: true, report: done });
});

test('a time with parts of a millisecond is a whole one, and a wait is at most the longest that is obeyed', () => {
  expect(read({ ...done, endedAt: 1785125529000.5 })).toMatchObject({ report: { endedAt: 1785125529000 } });
  expect(
    SUBMISSION({ outcome: 'refused', fault: 'throttle', error: 'x', retryAfterMs: 1e15 }, 'readSubmit'),
  ).toMatchObject({ retryAfterMs: ASKED_WAIT_MS_MAX });
});

test('what is no number at all is refused with its place', () => {
  expect(() => read({ ...done, usage: { totalSeconds: '5' } })).toThrow('poll.report.usage.totalSeconds is "5"');
});
