import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WINDOW_MS, judge, findWindow } from './sliding-window.ts';

test('the first request fits and leaves the rest of the limit', () => {
  expect(judge({ previous: 0, current: 0, elapsedMs: 0 }, 6)).toEqual({
    allowed: true,
    limit: 6,
    isOfMaker: false,
    remaining: 5,
    resetMs: WINDOW_MS,
    retryAfterMs: 0,
  });
});

test('a request beyond the limit does not fit', () => {
  expect(judge({ previous: 0, current: 6, elapsedMs: 10_000 }, 6)).toMatchObject({
    allowed: false,
    remaining: 0,
    resetMs: 50_000,
  });
});

test('the previous window still counts in proportion to its part of the last minute', () => {
  expect(judge({ previous: 6, current: 0, elapsedMs: 9_000 }, 6).allowed).toBe(false);
  expect(judge({ previous: 6, current: 0, elapsedMs: 10_000 }, 6).allowed).toBe(true);
});

test('one more request fits after the time that a refusal names, and not earlier', () => {
  const counts = fc.record({
    previous: fc.integer({ min: 0, max: 50 }),
    current: fc.integer({ min: 0, max: 50 }),
    elapsedMs: fc.integer({ min: 0, max: WINDOW_MS - 1 }),
  });
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 50 }), (before, limit) => {
      const { allowed, retryAfterMs } = judge(before, limit);
      if (allowed) return;
      expect(retryAfterMs).toBeGreaterThan(0);
      const then = before.elapsedMs + retryAfterMs;
      const later =
        then < WINDOW_MS
          ? { ...before, elapsedMs: then }
          : { previous: before.current, current: 0, elapsedMs: Math.min(then - WINDOW_MS, WINDOW_MS) };
      expect(judge(later, limit).allowed).toBe(true);
      if (then < WINDOW_MS) expect(judge({ ...later, elapsedMs: then - 1 }, limit).allowed).toBe(false);
    }),
    { numRuns: 20_000 },
  );
});

test('windows follow each other without a gap', () => {
  expect(findWindow(WINDOW_MS * 3 - 1)).toEqual({ index: 2, elapsedMs: WINDOW_MS - 1 });
  expect(findWindow(WINDOW_MS * 3)).toEqual({ index: 3, elapsedMs: 0 });
});
