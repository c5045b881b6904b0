import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { runAdapterContract } from '../../../testing/run-adapter-contract.ts';
import { ADAPTERS } from './index.ts';

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  runAdapterContract({ name, adapter, fixtures: path.join(import.meta.dirname, `${name}.fixtures`) });
});

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
