import { describe, expect, test } from '@jest/globals';
import { flagExtra, numberExtra, textExtra, wholeExtra } from './extra-fields.ts';

describe('a value is passed on as', () => {
  test.each<[string, (value: unknown) => unknown, unknown, unknown]>([
    ['a whole number', wholeExtra(0, 9), 7, 7],
    ['a whole number that a form wrote as text', wholeExtra(0, 9), '7', 7],
    ['nothing: a fraction', wholeExtra(0, 9), 7.5, undefined],
    ['nothing: below the least', wholeExtra(0, 9), -1, undefined],
    ['nothing: above the most', wholeExtra(0, 9), 10, undefined],
    ['nothing: a text with a number in it', wholeExtra(0, 9), '7 ', undefined],
    ['nothing: no text', wholeExtra(0, 9), '', undefined],
    ['a number', numberExtra(0, 9), 7.5, 7.5],
    ['a number that a form wrote as text', numberExtra(0, 9), '7.5', 7.5],
    ['nothing: a number in another notation', numberExtra(0, 9), '1e0', undefined],
    ['a flag', flagExtra, false, false],
    ['a flag that a form wrote as text', flagExtra, 'true', true],
    ['nothing: a word', flagExtra, 'constructor', undefined],
    ['a text', textExtra(20), 'blurry: no hands', 'blurry: no hands'],
    ['nothing: a longer text', textExtra(3), 'ink!', undefined],
    ['nothing: an address', textExtra(99), 'see https://a.example', undefined],
    ['nothing: a number where a text belongs', textExtra(9), 7, undefined],
  ])('%s', (_what, read, value, expected) => {
    expect(read(value)).toBe(expected);
  });
});
