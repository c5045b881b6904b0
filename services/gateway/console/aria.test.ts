import { globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ATTRIBUTE = /(?<![\w-])aria-[A-Za-z]+/g;
const types = path.join(path.dirname(createRequire(import.meta.url).resolve('preact/package.json')), 'src/dom.d.ts');
/** The attributes of WAI-ARIA, which the types of Preact list. A type check lets any other name with a hyphen pass. */
const KNOWN = new Set([...readFileSync(types, 'utf8').matchAll(/^\s*'(aria-[a-z]+)'\?:/gm)].map(([, name]) => name));
const FILES = globSync('**/*.{tsx,css}', { cwd: import.meta.dirname });

test('every aria attribute of a page and of a style is one of WAI-ARIA', () => {
  expect(KNOWN).toContain('aria-labelledby');
  const used = FILES.flatMap((file) =>
    [...readFileSync(path.join(import.meta.dirname, file), 'utf8').matchAll(ATTRIBUTE)].map(([name]) => ({
      file,
      name,
    })),
  );

  expect(used.length).toBeGreaterThan(0);
  expect(used.filter(({ name }) => !KNOWN.has(name))).toEqual([]);
});
