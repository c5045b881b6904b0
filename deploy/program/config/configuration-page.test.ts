import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { PAGES_OF_SETTINGS, updateSettingsTables } from './settings-tables.ts';
import { SETTINGS } from './testing/settings.ts';
import type { Setting } from './testing/settings.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const HEADER = /^\| Key(?: under `([\w.]+)`| of an entry of `([\w.[\]]+)`)? \| Means \| Default \|$/;

const SECTIONS = new Set(
  SETTINGS.filter(({ schema }) => schema.properties !== undefined).map(({ path: keys }) => keys.join('.')),
);

interface Row {
  /** As `a.b.*.c`. */
  readonly key: string;
  readonly fallback: string;
}

/** The rows of a page's tables of keys. The row of a section names the keys of the section in its text. */
function rowsOf(page: string): Row[] {
  let prefix: string | undefined;
  return readFileSync(path.join(ROOT, page), 'utf8')
    .split('\n')
    .flatMap((line) => {
      const header = HEADER.exec(line);
      if (header !== null) prefix = prefixOf(header);
      if (!line.startsWith('|')) prefix = undefined;
      const [, keys = '', means = '', fallback = ''] = line.split('|');
      if (prefix === undefined || header !== null) return [];
      return namesIn(keys)
        .map((name) => `${prefix ?? ''}${name}`)
        .flatMap((key) => [
          { key, fallback },
          ...(SECTIONS.has(key) ? wordsIn(means) : []).map((word) => ({ key: `${key}.${word}`, fallback })),
        ]);
    });
}

function prefixOf([, section, list]: readonly (string | undefined)[]): string {
  if (list !== undefined) return `${list.replaceAll('[]', '.*')}.*.`;
  return section === undefined ? '' : `${section}.`;
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);
}

/** The keys that a text names: `lifetime`, or `timeouts {dns, connect}` as `timeouts.dns`. */
function wordsIn(text: string): string[] {
  return [...text.matchAll(/`(\w+)(?: \{([\w, ]+)\})?`/g)].flatMap(([, word = '', inner]) => [
    word,
    ...(inner?.split(', ').map((one) => `${word}.${one}`) ?? []),
  ]);
}

const rows = PAGES_OF_SETTINGS.flatMap(rowsOf);
const documented = new Map(rows.map(({ key, fallback }) => [key, fallback]));
const leaves = SETTINGS.filter(({ path: keys, schema }) => keys.at(-1) !== '*' && schema.properties === undefined);
const keyOf = ({ path: keys }: Setting): string => keys.join('.');
const isScalar = (value: unknown): boolean => value !== undefined && typeof value !== 'object';

describe('the page about the configuration', () => {
  test.each(leaves.map(keyOf))('has a row for %s', (key) => {
    expect([...documented.keys()]).toContain(key);
  });

  test.each(leaves.filter(({ schema }) => isScalar(schema.default)).map((one) => [keyOf(one), one] as const))(
    'says the default of %s',
    (key, { schema }) => {
      expect((documented.get(key) ?? '').replaceAll('`', '')).toContain(String(schema.default));
    },
  );

  test.each(PAGES_OF_SETTINGS)('%s has the tables that the settings give; npm run gen:config writes them', (name) => {
    const page = readFileSync(path.join(ROOT, name), 'utf8');

    expect(page).toContain('by npm run gen:config');
    expect(updateSettingsTables(page)).toBe(page);
  });

  test('has no row for a key that the configuration does not have', () => {
    const known = new Set(SETTINGS.map(keyOf));
    const keys = rowsOf('deploy/configuration.md').map(({ key }) => key);

    expect(keys.length).toBeGreaterThan(60);
    expect(keys.filter((key) => !known.has(key))).toEqual([]);
  });
});
