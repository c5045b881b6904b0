import { describe, expect, test } from '@jest/globals';
import { aText, anOrder } from '../../testing/orders.ts';
import { listPromptWords, readWantedWords } from './prompt-words.ts';

const wordsOf = (...texts: readonly string[]) =>
  listPromptWords(anOrder({ content: texts.map((text) => ({ ...aText(), text })) }));

describe('the words of a prompt', () => {
  test.each<[string, string, readonly string[]]>([
    ['in any case, once each', 'Red kite, RED Kite!', ['red', 'kite']],
    ['without those that most prompts have', 'a kite in the wind', ['kite', 'wind']],
    ['in one form of the same letters', 'Cafe\u0301 ﬁsh ２', ['café', 'fish', '2']],
    ['of other alphabets', 'Красный змей', ['красный', 'змей']],
    ['of scripts without spaces, by letter and pair', '红风筝', ['红', '红风', '风', '风筝', '筝']],
    ['of both in one', 'neon东京2077', ['neon', '东', '东京', '京', '2077']],
    ['without signs that a search could take for its own', '100%_sure|not\\', ['100', 'sure', 'not']],
    ['cut to their first letters', 'x'.repeat(100), ['x'.repeat(32)]],
    ['none', '… — !', []],
  ])('%s', (_what, text, words) => {
    expect(wordsOf(text)).toEqual(words);
  });

  test('are those of all texts, up to a bound', () => {
    expect(wordsOf('one', 'two')).toEqual(['one', 'two']);
    expect(wordsOf(Array.from({ length: 500 }, (_word, at) => `word${at}`).join(' '))).toHaveLength(64);
  });
});

describe('the words of a search', () => {
  test.each([
    ['Red kit', { whole: ['red'], beginning: 'kit' }],
    ['the red kite', { whole: ['red'], beginning: 'kite' }],
    ['red kite ', { whole: ['red', 'kite'], beginning: undefined }],
    ['red ki', { whole: ['red', 'ki'], beginning: undefined }],
    ['风筝', { whole: ['风', '风筝', '筝'], beginning: undefined }],
    ['… a', undefined],
    ['w1 w2 w3 w4 w5 w6 w7 w8 w9', { whole: ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7', 'w8'], beginning: undefined }],
  ])('%s', (text, wanted) => {
    expect(readWantedWords(text)).toEqual(wanted);
  });
});
