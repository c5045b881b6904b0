import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runAdapterContract } from '../../../testing/run-adapter-contract.ts';
import { SEARCH_MS } from '../../operations/recovery/reconcile-unknown.ts';
import { ADAPTERS } from './index.ts';

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  runAdapterContract({ name, adapter, fixtures: path.join(import.meta.dirname, `${name}.fixtures`) });
});

const MINUTE_MS = 60_000;
const WORDS: Readonly<Record<number, string>> = { 1: 'a minute', 3: 'three', 6: 'six' };
const page = readFileSync(path.join(import.meta.dirname, 'README.md'), 'utf8');
const DECLARING = Object.entries(ADAPTERS).flatMap(([name, { extraFields = {} }]) =>
  Object.keys(extraFields).length === 0 ? [] : [[name, extraFields] as const],
);

/** The extra fields that the page lists for an adapter, by whether they are in italics. */
function readListed(name: string): ReadonlyMap<string, boolean> {
  const [, listed = ''] = new RegExp(`\\x60${name}\\x60: ((?:[^;\\n]|;(?! \`\\w+\`: )|\\n {4})*)`).exec(page) ?? [];
  return new Map(
    [...listed.matchAll(/(\*?)`(\w+)`/g)].toReversed().map(([, mark, field = '']) => [field, mark === '*'] as const),
  );
}

test.each(DECLARING)('the page lists the extra fields of %s, those for operators in italics', (name, declared) => {
  const listed = readListed(name);

  for (const [field, { isForOperators = false }] of Object.entries(declared))
    expect([field, listed.get(field)]).toEqual([field, isForOperators]);
});

test('the pages say after how many minutes a person is asked about a lost answer', () => {
  const waits = Object.entries(ADAPTERS).flatMap(([name, { visibleAfterMs }]) =>
    visibleAfterMs === undefined ? [] : [[name, (visibleAfterMs + SEARCH_MS) / MINUTE_MS] as const],
  );
  const said = page.replaceAll(/\s+/g, ' ').match(/\d+ minutes at `[\w-]+`/g);
  const readPage = (folder: string): string =>
    readFileSync(path.join(import.meta.dirname, folder, 'README.md'), 'utf8').replaceAll(/\s+/g, ' ');
  const wordOf = (name: string): string | undefined => WORDS[Number(new Map(waits).get(name))];

  expect(said?.toSorted()).toEqual(waits.map(([name, minutes]) => `${minutes} minutes at \x60${name}\x60`).toSorted());
  expect(readPage('../../../../..')).toContain(
    `after ${WORDS[SEARCH_MS / MINUTE_MS]} (${wordOf('replicate')} at Replicate, ${wordOf('ark')} at Ark and Kling`,
  );
  expect(readPage('../../..')).toContain(`after ${wordOf('kling')} or ${wordOf('replicate')} minutes`);
});
