import { expect, test } from '@jest/globals';
import { Kind, KindSchema } from '@reelgate/proto/problem/v1/problem';
import { Scope } from '@reelgate/proto/access/v1/access';
import { deriveValues, deriveWords, findWord } from './enum-words.ts';

test('every value of an enum has a word, and every word its value', () => {
  const values = deriveValues(Kind);
  const words = deriveWords(Kind);

  expect(values.not_found).toBe(Kind.NOT_FOUND);
  expect(words[Kind.NOT_FOUND]).toBe('not_found');
  expect(Object.entries(values).map(([word, value]) => [word, words[value]])).toEqual(
    Object.keys(values).map((word) => [word, word]),
  );
  expect(Object.keys(values)).toHaveLength(Object.keys(Kind).length / 2 - 1);
});

test('the zero value has the word that is given, or none', () => {
  expect(deriveValues(Scope)).not.toHaveProperty('unspecified');
  expect(deriveWords(Scope)[Scope.UNSPECIFIED]).toBeUndefined();
  expect(deriveWords(Scope, 'operator')[Scope.UNSPECIFIED]).toBe('operator');
});

test('a number that this release does not know has no word', () => {
  const words: Readonly<Record<number, string | undefined>> = deriveWords(Kind, 'internal');

  expect(words[99]).toBeUndefined();
});

test('the descriptor of an enum gives the same words, and none for the zero value and an unknown number', () => {
  const words: Readonly<Record<number, string>> = deriveWords(Kind, '');

  expect(KindSchema.values.map(({ number }) => findWord(KindSchema, number))).toEqual(
    KindSchema.values.map(({ number }) => words[number]),
  );
  expect(findWord(KindSchema, 99)).toBe('');
});

test('a misspelt word and a missing value do not compile', () => {
  const values = deriveValues(Kind);
  // @ts-expect-error the word of NOT_FOUND is not_found
  expect(values.notfound).toBeUndefined();
  // @ts-expect-error there are more words than these two
  const word: 'invalid' | 'gone' | undefined = deriveWords(Kind)[Kind.INTERNAL];
  expect(word).toBe('internal');
});
