import { describe, expect, test } from '@jest/globals';
import type { ExtraField } from '@reelgate/adapter-kit';
import { listChoices, listFreeFields, readExtraFields } from './extra-fields.ts';

const WHOLE: ExtraField = { type: 'whole', least: 0, most: 9 };
const NUMBER: ExtraField = { type: 'number', least: 0, most: 9 };
const FLAG: ExtraField = { type: 'flag' };
const WORD: ExtraField = { type: 'word', words: ['on', 'off'] };
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
    ['one of its words', WORD, 'on', 'on'],
    ['nothing for another word', WORD, 'On', undefined],
    ['a text', readText(20), 'blurry: no hands', 'blurry: no hands'],
    ['nothing for a text that is too long', readText(3), 'ink!', undefined],
    ['nothing for an address', readText(99), 'see https://a.example', undefined],
    ['nothing for a number instead of a text', readText(9), 7, undefined],
  ])('%s', (_what, field, value, expected) => {
    expect(readExtraFields(JSON.stringify({ field: value }), { field }).values['field']).toBe(expected);
  });
});

describe('a field that does not reach the upstream is named, with', () => {
  test.each<[string, ExtraField | undefined, unknown, string | undefined]>([
    ['nothing if the upstream does not take it', undefined, 7, undefined],
    ['the range of a whole number', WHOLE, 2 ** 40, 'a whole number from 0 to 9'],
    ['the range of a whole number for a fraction', WHOLE, 1.5, 'a whole number from 0 to 9'],
    ['the range of a number', NUMBER, '10', 'a number from 0 to 9'],
    ['the words of a flag', FLAG, 1, 'true or false'],
    ['the words of a word', WORD, 'loud', 'on or off'],
    ['the length of a text', readText(3), 'ink!', 'a text of at most 3 characters without a URL'],
  ])('%s', (_what, field, value, expected) => {
    const { faults } = readExtraFields(JSON.stringify({ field: value }), field === undefined ? {} : { field });

    expect(faults).toEqual([{ field: 'field', ...(expected === undefined ? {} : { expected }) }]);
  });
  test.each<[string, unknown]>([
    ['null is absent', { field: null }],
    ['an empty text is none', { field: '' }],
    ['the name of who asks changes no video', { user: 'me' }],
  ])('no fault: %s', (_what, sent) => {
    expect(readExtraFields(JSON.stringify(sent), { field: readText(9) })).toEqual({ values: {}, faults: [] });
  });
  test('a declared field that this order cannot have is named like an unknown one', () => {
    expect(readExtraFields('{"field":7}', { field: WHOLE }, [])).toEqual({ values: {}, faults: [{ field: 'field' }] });
  });
});

test.each<[string, object, readonly string[]]>([
  ['of a flag', { sound: false }, ['sound_false']],
  ['of a flag from the text of a form', { sound: 'true' }, ['sound_true']],
  ['of a word', { tier: 'flex' }, ['tier_flex']],
  ['of each priced field', { sound: true, tier: 'flex' }, ['sound_true', 'tier_flex']],
  ['no value of a field without a price', { seed: 7 }, []],
  ['no value that the upstream does not take', { tier: 'gold', sound: null }, []],
])('the choices with a price of their own are %s', (_what, sent, choices) => {
  const declared = {
    sound: { type: 'flag', isPriced: true },
    tier: { type: 'word', words: ['flex'], isPriced: true },
    seed: WHOLE,
  } as const;

  expect(listChoices(JSON.stringify(sent), declared)).toEqual(choices);
});

test('a field for operators to allow is none that a channel takes by itself', () => {
  expect(listFreeFields({ seed: WHOLE, sound: { type: 'flag', isForOperators: true } })).toEqual(['seed']);
});
