import type { Order } from './order.ts';

/** A prompt has at most this many words that can be searched for, the first ones of it. */
const WORDS_MAX = 64;
/** The part of a prompt that is split into words. */
const CODE_UNITS_MAX = 8000;
/** The first letters of a long word stand for it. */
const LETTERS_MAX = 32;
/** A search has at most this many words; further ones are not compared. */
const WANTED_MAX = 8;
/** A shorter last word of a search is a whole word, because too many others begin like it. */
const BEGINNING_MIN = 3;

const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Scripts without spaces: each letter is a word, and so is each pair of neighbours. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
/** An ordinary word: it is neither split nor left out, and the patterns of scripts cost far more than this one. */
const SHORT_WORD = new RegExp(`^[a-z0-9]{1,${LETTERS_MAX}}$`);
const SINGLE_LETTER = /^[a-z]$/;
/** Words that most English prompts have, so that a search for them would match too many. */
const COMMON = new Set(
  'an and are as at by for from in into is it its of on or that the this to was were with'.split(' '),
);

/** The words of a search. A prompt matches that has each of them. */
export interface WantedWords {
  readonly whole: readonly string[];
  /** The beginning of another word, undefined if there is no such word. */
  readonly beginning: string | undefined;
}

/** The different words of an order, in one form for each way in which they can be written. */
export function listPromptWords({ content }: Order): readonly string[] {
  const words = new Set<string>();
  for (const item of content) {
    if (!('text' in item)) continue;
    for (const word of splitWords(item.text.slice(0, CODE_UNITS_MAX))) {
      if (words.size === WORDS_MAX) return [...words];
      words.add(word);
    }
  }
  return [...words];
}

/** The words that a person searches for, undefined if the text has no words. The last word may be unfinished. */
export function readWantedWords(text: string): WantedWords | undefined {
  const words = [...new Set(splitWords(text))].slice(0, WANTED_MAX);
  const last = words.at(-1);
  if (last === undefined) return undefined;
  const isUnfinished = last.length >= BEGINNING_MIN && /[\p{L}\p{N}\p{M}]$/u.test(text.normalize('NFKC'));
  return isUnfinished ? { whole: words.slice(0, -1), beginning: last } : { whole: words, beginning: undefined };
}

function splitWords(text: string): readonly string[] {
  const plain = text.normalize('NFKC').toLowerCase();
  const words = plain.match(WORD) ?? [];
  return words.flatMap((word) => (SHORT_WORD.test(word) ? word : splitScripts(word))).filter(isTelling);
}

/** The parts of a word in scripts with spaces and without. */
function splitScripts(word: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { 0: run, index } of word.matchAll(UNSPACED)) {
    parts.push(word.slice(from, index), ...pairLetters(run));
    from = index + run.length;
  }
  return [...parts, word.slice(from)].map((part) => [...part].slice(0, LETTERS_MAX).join(''));
}

function pairLetters(run: string): string[] {
  const letters = [...run];
  return letters.flatMap((letter, at) => (at === 0 ? [letter] : [`${letters[at - 1] ?? ''}${letter}`, letter]));
}

function isTelling(word: string): boolean {
  return word !== '' && !SINGLE_LETTER.test(word) && !COMMON.has(word);
}
