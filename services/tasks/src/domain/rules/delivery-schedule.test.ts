import { describe, expect, test } from '@jest/globals';
import { INTERVALS_MS, RETRY_AFTER_MAX_MS, afterAttempt } from './delivery-schedule.ts';
import type { Answer } from './delivery-schedule.ts';

const NOW = 1_000_000;
const S = 1000;
const M = 60 * S;
const H = 60 * M;
const FAILED: Answer = { status: 500, error: '', retryAfterMs: 0 };

const after = (attempts: number, answer: Partial<Answer> = {}, chance = 0.5, attemptsBefore = 0) =>
  afterAttempt({ attempts, attemptsBefore }, { ...FAILED, ...answer }, { now: NOW, chance });
const waitAfter = (...args: Parameters<typeof after>): number => (after(...args).dueAt ?? NaN) - NOW;

test.each([
  [1, 5 * S],
  [2, M],
  [3, 5 * M],
  [4, 30 * M],
  [5, 2 * H],
  [6, 5 * H],
  [7, 10 * H],
  [8, 14 * H],
  [9, 20 * H],
  [10, 24 * H],
])('after the failed attempt %i the next one follows in %i ms', (attempts, wait) => {
  expect(after(attempts)).toEqual({ state: 'pending', dueAt: NOW + wait });
});

test.each([
  ['the eleventh failed attempt', after(11)],
  ['the eleventh failed attempt of a second sending', after(15, {}, 0.5, 4)],
  ['an answer that the URL is gone', after(1, { status: 410 })],
])('%s is the last one', (_what, next) => {
  expect(next).toEqual({ state: 'failed' });
});

test('a delivery that is sent again begins its schedule anew', () => {
  expect(waitAfter(12, {}, 0.5, 11)).toBe(5 * S);
});

describe('an attempt', () => {
  test.each([200, 201, 204, 299])('with the status %i is the last one, and delivered', (status) => {
    expect(after(1, { status })).toEqual({ state: 'delivered' });
  });

  test.each<[string, Partial<Answer>]>([
    ['a redirect', { status: 302 }],
    ['a status below 200', { status: 199 }],
    ['a status of 300', { status: 300 }],
    ['a fault of the client', { status: 400 }],
    ['a fault of the server', { status: 503 }],
    ['no answer', { status: 0, error: 'timeout' }],
    ['an answer that is too large', { status: 200, error: 'too_large' }],
  ])('with %s is repeated', (_what, answer) => {
    expect(after(1, answer).state).toBe('pending');
  });
});

describe('the jitter', () => {
  test.each([
    [0, 0.8],
    [0.25, 0.9],
    [0.75, 1.1],
    [0.999_999, 1.2],
  ])('makes of the chance %d the part %d of an interval', (chance, part) => {
    expect(waitAfter(7, {}, chance) / (INTERVALS_MS[7] ?? 0)).toBeCloseTo(part, 3);
  });
});

describe('a receiver that asks to wait', () => {
  test.each([
    ['longer than the interval is left alone for that time', 1, 90 * S, 90 * S],
    ['shorter than the interval gets the interval', 3, 90 * S, 5 * M],
    ['longer than a day is left alone for a day', 1, 300 * H, RETRY_AFTER_MAX_MS],
  ])('%s', (_what, attempts, retryAfterMs, wait) => {
    expect(waitAfter(attempts, { retryAfterMs })).toBe(wait);
  });

  test('gets no attempt after the last one', () => {
    expect(after(11, { retryAfterMs: M })).toEqual({ state: 'failed' });
  });
});
