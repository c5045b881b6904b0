/* eslint-disable no-template-curly-in-string -- a variable of the file looks like one of the language */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { configJsonSchema } from './config-json-schema.ts';
import { errorsOf, parseYaml } from './testing/published-schema.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const SECTIONS = Object.keys((configJsonSchema() as { readonly properties: object }).properties);
const FENCED = /^```([^\n]*)\n([^]*?)^```/gm;

interface Example {
  readonly at: string;
  /** The language, followed by the name of the file if the block shows another file. */
  readonly language: string;
  readonly text: string;
}

const documents = execFileSync('git', ['ls-files', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
const blocks = documents.flatMap((file) => blocksOf(file, readFileSync(path.join(ROOT, file), 'utf8')));
const examples = blocks.filter(({ language }) => language === 'yaml');

function blocksOf(file: string, document: string): Example[] {
  return [...document.matchAll(FENCED)].map(({ index, 1: language = '', 2: text = '' }) => ({
    at: `${file}:${document.slice(0, index).split('\n').length}`,
    language,
    text,
  }));
}

/** What is wrong with an example. An example of a nested key names its parent keys, as a file does. */
function faultsOf(text: string): string[] {
  const value = parseYaml(text);
  return typeof value === 'object' && value !== null ? errorsOf(value) : ['is not a section of the configuration'];
}

test.each(examples.map(({ at, text }) => [at, text]))(
  'the example of the configuration at %s is accepted by the published schema',
  (_at, text) => {
    expect(faultsOf(text)).toEqual([]);
  },
);

test('the documents show internal callers, a relay channel with its prices, and the sandbox', () => {
  const shown = examples.flatMap(({ text }) => Object.keys(parseYaml(text) as object));

  expect([...new Set(shown)].sort()).toEqual(
    expect.arrayContaining(['channels', 'internal_callers', 'prices', 'sandbox']),
  );
});

test('an example of the configuration is marked as yaml, so that it is checked', () => {
  const unmarked = blocks.filter(
    ({ language, text }) => language !== 'yaml' && SECTIONS.some((key) => new RegExp(`^${key}:`, 'm').test(text)),
  );

  expect(unmarked.map(({ at }) => at)).toEqual([]);
});

test.each<[string, string]>([
  ['an unknown section', 'internal_caller:\n  - { name: a }\n'],
  ['a nested key without its parent keys', 'creates_per_minute: 60\n'],
  [
    'an unknown key in a list',
    'internal_callers:\n  - { name: a, key: "${KEY}", accounts: [demo], scope: [tasks.read] }\n',
  ],
  ['a value that the key cannot have', 'media:\n  results: { lifetime: soon }\n'],
  ['an endpoint that the adapter does not have', relayChannel('endpoints: [chats]')],
  ['no mapping', 'just words\n'],
])('an example with %s is refused', (_fault, text) => {
  const [{ text: read } = { text: '' }] = blocksOf('a.md', `words\n\n\`\`\`yaml\n${text}\`\`\`\n`);

  expect(read).toBe(text);
  expect(faultsOf(read)).not.toEqual([]);
});

test('the same examples without their fault are accepted', () => {
  expect(faultsOf(relayChannel('endpoints: [chat]'))).toEqual([]);
  expect(faultsOf('media:\n  results: { lifetime: 7d }\n')).toEqual([]);
});

function relayChannel(endpoints: string): string {
  return `channels:
  - { id: a, adapter: relay, base_url: "https://a.example", api_key: k, ${endpoints}, models: { a: b } }
`;
}
