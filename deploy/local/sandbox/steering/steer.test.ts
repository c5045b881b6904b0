import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { plainScript, type Script } from './script.ts';
import { steer } from './steer.ts';
import { words } from './words.ts';

test.each<[string, Partial<Script>]>([
  ['nothing in brackets', {}],
  ['[a word of the story]', {}],
  ['[slow:soon]', {}],
  ['[seconds]', {}],
  ['[constructor]', {}],
  ['[slow:30s] and [queue:500ms]', { runningMs: 30_000, queuedMs: 500 }],
  ['[SLOW:2m]', { runningMs: 120_000 }],
  ['[slow:7]', { runningMs: 7000 }],
  ['[slow:999999h]', { runningMs: 24 * 3_600_000 }],
  ['[seconds:3] [tokens:500]', { usage: { told: true, seconds: 3, tokens: 500 } }],
  ['[r:fail]', {}],
])('a prompt «%s» steers by its words alone', (prompt, part) => {
  expect(steer(prompt, 'generation')).toEqual({ ...plainScript, ...part });
});

test('a prompt steers a regeneration only by words that begin with r:', () => {
  expect(steer('[never] [r:fail:1026]', 'regeneration')).toEqual({
    ...plainScript,
    ending: { as: 'failed', code: '1026' },
  });
});

test('every word steers when it is written as the table says', () => {
  const idle = Object.values(words).filter(
    ({ written }) => steer(written, written.startsWith('[r:') ? 'regeneration' : 'generation') === plainScript,
  );

  expect(idle).toEqual([]);
});

test('the page about the sandbox explains every word as the table does', () => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const missing = Object.values(words).filter(({ written, does }) => !page.includes(`| \`${written}\` | ${does} |`));

  expect(missing).toEqual([]);
});
