import { expect, test } from '@jest/globals';
import { ASKED_WAIT_MS_MAX, readAskedWaitMs } from './read-asked-wait.ts';
import type { AskingAnswer } from './read-asked-wait.ts';

const NOW = Date.UTC(2026, 0, 1);
const google = {
  error: {
    code: 429,
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
    ],
  },
};

test.each<[string, Partial<AskingAnswer>, number]>([
  ['seconds', { headers: { 'retry-after': '4' } }, 4000],
  ['a fraction of a second', { headers: { 'retry-after': '1.5' } }, 1500],
  ['milliseconds, which are finer', { headers: { 'retry-after-ms': '1250', 'retry-after': '2' } }, 1250],
  ['a date', { headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:07 GMT' } }, 7000],
  ['503 too', { status: 503, headers: { 'retry-after': '9' } }, 9000],
  ['529 too', { status: 529, headers: { 'retry-after': '9' } }, 9000],
  ['a day', { headers: { 'retry-after': '86400' } }, ASKED_WAIT_MS_MAX],
  ['the end of a limit in seconds', { headers: { 'x-ratelimit-reset': '12' } }, 12_000],
  ['the end of a limit as a time', { headers: { 'x-ratelimit-reset': String(NOW / 1000 + 12) } }, 12_000],
  ['the end of a limit as a time in milliseconds', { headers: { 'x-ratelimit-reset': String(NOW + 800) } }, 800],
  ['a duration', { headers: { 'x-ratelimit-reset-requests': '1m2.5s' } }, 62_500],
  ['a duration in milliseconds', { headers: { 'x-ratelimit-reset-tokens': '120ms' } }, 120],
  ['a timestamp', { headers: { 'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:03Z' } }, 3000],
  ['the header of a draft', { headers: { 'ratelimit-reset': '5' } }, 5000],
  ['the header of another draft', { headers: { ratelimit: 'limit=10, remaining=0, reset=7' } }, 7000],
  ['the header of the newest draft', { headers: { ratelimit: '"default";r=0;t=7' } }, 7000],
  [
    'the limit that is used up, not the other',
    {
      headers: {
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '2s',
        'x-ratelimit-remaining-tokens': '900',
        'x-ratelimit-reset-tokens': '50s',
      },
    },
    2000,
  ],
  ['nothing: no limit is used up', { headers: { 'x-ratelimit-remaining': '7', 'x-ratelimit-reset': '50' } }, 0],
  ['Google in its body', { body: google }, 34_070],
  ['a number in the body', { body: { error: { retry_after: 3 } } }, 3000],
  ['milliseconds in the body', { body: { detail: { retry_after_ms: 300 } } }, 300],
  ['its header before its body', { headers: { 'retry-after': '4' }, body: google }, 4000],
  ['nothing', {}, 0],
  ['a negative number', { headers: { 'retry-after': '-4' }, body: { retry_after: -4 } }, 0],
  ['no number', { headers: { 'retry-after': 'soon', 'x-ratelimit-reset': 'soon' }, body: { retry_after: 'soon' } }, 0],
  ['a limit on an answer without fault', { status: 200, headers: { 'x-ratelimit-reset': '12' } }, 0],
  ['a wait beside a fault of the request', { status: 400, headers: { 'retry-after': '4' } }, 0],
])('an upstream that asks with %s', (_what, answer, expected) => {
  expect(readAskedWaitMs({ status: 429, headers: {}, body: undefined, ...answer }, NOW)).toBe(expected);
});

test('an upstream that says in its own words that it limits its callers is obeyed whatever its status', () => {
  const answer = { status: 200, headers: { 'x-ratelimit-reset': '12' }, body: {} };

  expect(readAskedWaitMs(answer, NOW, true)).toBe(12_000);
});

test('a body that is deep or long is not followed to its end', () => {
  let body: object = { retry_after: 5 };
  for (let depth = 0; depth < 50; depth += 1) body = { error: body };

  expect(readAskedWaitMs({ status: 429, headers: {}, body }, NOW)).toBe(0);
});
