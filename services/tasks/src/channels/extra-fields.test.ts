import { describe, expect, test } from '@jest/globals';
import type { ExtraField } from '@reelgate/adapter-kit';
import { readExtraFields } from './extra-fields.ts';

const WHOLE: ExtraField = { type: 'whole', least: 0, most: 9 };
const NUMBER: ExtraField = { type: 'number', least: 0, most: 9 };
const FLAG: ExtraField = { type: 'flag' };
const readText = (charactersMax: number): ExtraField => ({ type: 'text', charactersMax });

describe('an extra field is passed on as', () => {
  test.each<[string, ExtraField, unknown, unknown]>([
    ['a whole number', WHOLE, 7, 7],
    ['a whole number from the text of a form', WHOLE, '7', 7],
    ['nothing for a fraction', WHOLE, 7.5, undefined],
    ['nothing for a number below the minimum', WHOLE, -1, undefined],
    ['nothing for a number above the maximum', WHOLE, 10, undefined],
    ['nothing for a text that contains a number', WHOLE, '7 ', undefined],
    ['nothing for an empty text', WHOLE, '', undefined],
    ['a number', NUMBER, 7.5, 7.5],
    ['a number from the text of a form', NUMBER, '7.5', 7.5],
    ['nothing for a number in another notation', NUMBER, '1e0', undefined],
    ['a flag', FLAG, false, false],
    ['a flag from the text of a form', FLAG, 'true', true],
    ['nothing for a word', FLAG, 'constructor', undefined],
    ['a text', readText(20), 'blurry: no hands', 'blurry: no hands'],
    ['nothing for a text that is too long', readText(3), 'ink!', undefined],
    ['nothing for an address', readText(99), 'see https://a.example', undefined],
    ['nothing for a number instead of a text', readText(9), 7, undefined],
  ])('%s', (_what, field, value, expected) => {
    expect(readExtraFields(JSON.stringify({ field: value }), { field })['field']).toBe(expected);
  });
});
