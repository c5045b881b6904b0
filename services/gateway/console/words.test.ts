import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';

/** Words of the protocol. A person at a page has no use for them. */
const JARGON =
  /\bHTTP\b|\bheaders?\b|\b[1-5]xx\b|\bstatus code\b|\bTLS\b|\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) \/|\b(?:Authorization|Bearer|Idempotency-Key|Retry-After|Content-Type|User-Agent|Accept|Prefer|Cookie|webhook-(?:id|timestamp|signature)|x-[a-z]+-[a-z]+)\b/;
/** Lines of code that stand beside what they call. */
const CODE: readonly string[] = ['taskWords.raw.path'];
const FILES = globSync('**/{words,*-words}.ts', { cwd: import.meta.dirname });

interface Phrase {
  readonly at: string;
  readonly text: string;
}

/** Every text below a value, with its place. A function tells its own parts. */
function listPhrases(value: unknown, at: string): readonly Phrase[] {
  if (typeof value === 'string') return [{ at, text: value }];
  if (typeof value === 'function')
    return [...String(value).matchAll(/'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`/g)].map(
      ([, plain = '', filled = '']) => ({
        at,
        text: plain + filled,
      }),
    );
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => listPhrases(inner, `${at}.${key}`));
}

describe('the words of both consoles', () => {
  let phrases: readonly Phrase[];
  beforeAll(async () => {
    const modules = await Promise.all(
      FILES.map((file) => import(path.join(import.meta.dirname, file)) as Promise<Record<string, unknown>>),
    );
    phrases = modules.flatMap((module) => Object.entries(module).flatMap(([name, value]) => listPhrases(value, name)));
  });

  test('are found in every file of words', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(11);
    expect(phrases.length).toBeGreaterThan(900);
  });

  test('name no header and no other part of the protocol', () => {
    expect(phrases.filter(({ at, text }) => JARGON.test(text) && !CODE.includes(at))).toEqual([]);
  });

  test('have no two spaces in a row, because a page is served without them', () => {
    const sources = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
      (file) => !/\.test\.ts$|^api\//.test(file),
    );
    const lines = sources.flatMap((file) => readFileSync(path.join(import.meta.dirname, file), 'utf8').split('\n'));

    expect(lines.filter((line) => /\S {2}/.test(line.replace(/\/\/.*|^\s*\/?\*.*/, '')))).toEqual([]);
  });

  test('have no exception that is not needed', () => {
    expect(CODE.filter((at) => !phrases.some((phrase) => phrase.at === at && JARGON.test(phrase.text)))).toEqual([]);
  });
});
