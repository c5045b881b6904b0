import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { plainScript, type Script } from './script.ts';
import { words, steer } from './steering-words.ts';

test.each<[string, Partial<Script>]>([
  ['nothing in brackets', {}],
  ['[brackets of the prompt itself]', {}],
  ['[slow:soon]', {}],
  ['[seconds]', {}],
  ['[constructor]', {}],
  ['[slow:30s] and [queue:500ms]', { runningMs: 30_000, queuedMs: 500 }],
  ['[SLOW:2m]', { runningMs: 120_000 }],
  ['[slow:7]', { runningMs: 7000 }],
  ['[slow:999999h]', { runningMs: 24 * 3_600_000 }],
  ['[seconds:3] [tokens:500]', { usage: { told: true, seconds: 3, tokens: 500 } }],
  ['[r:fail]', {}],
])('the prompt «%s» steers by its steering words only', (prompt, part) => {
  expect(steer(prompt, 'generation')).toEqual({ ...plainScript, ...part });
});

test('only words that begin with r: steer a regeneration', () => {
  expect(steer('[never] [r:fail:1026]', 'regeneration')).toEqual({
    ...plainScript,
    ending: { as: 'failed', code: '1026' },
  });
});

test('every steering word works as the table spells it', () => {
  const idle = Object.values(words).filter(
    ({ written }) => steer(written, written.startsWith('[r:') ? 'regeneration' : 'generation') === plainScript,
  );

  expect(idle).toEqual([]);
});

test('the README of the sandbox explains every steering word as the table does', () => {
  const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const missing = Object.values(words).filter(({ written, does }) => !page.includes(`| \`${written}\` | ${does} |`));

  expect(missing).toEqual([]);
});
