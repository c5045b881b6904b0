import { expect, test } from '@jest/globals';
import { plainMessage } from './api.ts';

test.each([
  ['invalid_api_key', 'missing or malformed token; send the header Authorization: Bearer <token>', /not known here/],
  ['caller_left', 'the caller disconnected and had sent no Idempotency-Key', /^The program that asked for it/],
])('a refusal %s for a program is told in words for a person', (code, message, plain) => {
  expect(plainMessage({ code, message })).toMatch(plain);
  expect(plainMessage({ code, message })).not.toMatch(/header|Bearer|Idempotency/);
});

test('a refusal for lack of money has the amounts and says how to get some', () => {
  const message = 'the account has 0.10 USD available, but this request needs 0.32 USD';

  expect(plainMessage({ code: 'insufficient_quota', message })).toBe(
    `There is not enough money: ${message}. Ask the person who gave you this token for more.`,
  );
});

test('any other message stays as it is', () => {
  expect(plainMessage({ code: 'invalid_ratio', message: 'must be 16:9' })).toBe('must be 16:9');
});
