import { expect, test } from '@jest/globals';
import { bodyValidator } from './body-validator.ts';

const check = bodyValidator<{ readonly text: string }>({
  type: 'object',
  properties: { text: { type: 'string', minLength: 2, maxLength: 4 } },
});

test.each([
  ['ab', undefined],
  ['abcd', undefined],
  ['🚤🚤', undefined],
  ['🚤🚤🚤🚤', undefined],
  ['', 'must not be empty'],
  ['🚤', 'must not be empty'],
  ['abcde', 'must have at most 4 characters'],
  ['🚤🚤🚤🚤🚤', 'must have at most 4 characters'],
  ['abcdefghijklmnop', 'must have at most 4 characters'],
])('a length is counted in characters: %j', (text, refusal) => {
  if (refusal === undefined) expect(check({ text })).toEqual({ text });
  else expect(() => check({ text })).toThrow(expect.objectContaining({ field: 'text', message: refusal }));
});
