import { describe, expect, test } from '@jest/globals';
import { flagExtra, numberExtra, textExtra, wholeExtra } from './extra-fields.ts';

describe('an extra field is passed on as', () => {
  test.each<[string, (value: unknown) => unknown, unknown, unknown]>([
    ['a whole number', wholeExtra(0, 9), 7, 7],
    ['a whole number from the text of a form', wholeExtra(0, 9), '7', 7],
    ['nothing for a fraction', wholeExtra(0, 9), 7.5, undefined],
    ['nothing for a number below the minimum', wholeExtra(0, 9), -1, undefined],
    ['nothing for a number above the maximum', wholeExtra(0, 9), 10, undefined],
    ['nothing for a text that contains a number', wholeExtra(0, 9), '7 ', undefined],
    ['nothing for an empty text', wholeExtra(0, 9), '', undefined],
    ['a number', numberExtra(0, 9), 7.5, 7.5],
    ['a number from the text of a form', numberExtra(0, 9), '7.5', 7.5],
    ['nothing for a number in another notation', numberExtra(0, 9), '1e0', undefined],
    ['a flag', flagExtra, false, false],
    ['a flag from the text of a form', flagExtra, 'true', true],
    ['nothing for a word', flagExtra, 'constructor', undefined],
    ['a text', textExtra(20), 'blurry: no hands', 'blurry: no hands'],
    ['nothing for a text that is too long', textExtra(3), 'ink!', undefined],
    ['nothing for an address', textExtra(99), 'see https://a.example', undefined],
    ['nothing for a number instead of a text', textExtra(9), 7, undefined],
  ])('%s', (_what, read, value, expected) => {
    expect(read(value)).toBe(expected);
  });
});
