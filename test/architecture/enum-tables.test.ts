import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
const IMPORT = /import (?:type )?\{([^}]*)\} from '@reelgate\/proto[^']*'/g;
/** A constant at the top level whose value is an object, a list or a map. */
const CONSTANT = /^(?:export )?const (\w+)(?:: [^=]+)? = (?:new Map[^(]*\()?[[{](?:.*[\]}].*;$|[\s\S]*?^[\]}])/gm;

/** Tables over the values of an enum that do not spell its words, by file and name. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  'deploy/program/config/internal-callers.ts GRANTABLE': 'the scopes that an operator may grant',
  'deploy/program/keys/identities.ts SCOPES': 'the scopes of each part of the program',
  'services/gateway/src/clients/usage-client.ts SOURCES': 'the sources of a charge, which are three of five',
  'services/gateway/src/dialects/openrouter/encode.ts STATUS': 'the words of OpenRouter',
  'services/gateway/src/dialects/vendor/encode.ts VENDOR_STATUS': 'the words of the vendor',
  'services/gateway/src/dialects/vendor/encode.ts TASK_TYPES': 'the words of the vendor',
  'services/gateway/src/dialects/vendor/index.ts STATES': 'the words of the vendor',
  'services/gateway/src/dialects/wire/content-items.ts KINDS': 'the types of content items',
  'services/gateway/src/dialects/wire/content-items.ts FAMILIES': 'the media types of each kind',
  'services/tasks/src/clients/billing.ts SETTLED_BY': 'three bases are one word',
  'services/tasks/src/clients/billing.ts BASES': 'the decisions of a person',
  'services/tasks/src/operations/reads/work-messages.ts CAUSES': 'the domain names causes by who is at fault',
};

const git = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'];
const list = (...patterns: string[]): string[] =>
  execFileSync('git', [...git, ...patterns], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter(Boolean);
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const enums = new Set(
  list('proto/reelgate/*.proto').flatMap((file) => [...read(file).matchAll(/^enum (\w+)/gm)].map(([, name]) => name)),
);

function findTables(file: string): string[] {
  const text = read(file);
  const imported = [...text.matchAll(IMPORT)].flatMap(([, names = '']) => names.split(',')).map((name) => name.trim());
  const known = imported.flatMap((name) => {
    const [original = '', local = original] = name.replace(/^type /, '').split(' as ');
    return enums.has(original) ? [local] : [];
  });
  if (known.length === 0) return [];
  const value = new RegExp(String.raw`\b(?:${known.join('|')})\.[A-Z_0-9]+\b`, 'g');
  return [...text.matchAll(CONSTANT)].flatMap(([constant, name]) =>
    [...constant.matchAll(value)].length < 2 ? [] : [`${file} ${name}`],
  );
}

test('the words of an enum are derived from the contract, unless a table means other words', () => {
  const product = list('services/*.ts', 'deploy/*.ts').filter((file) => !/\.test\.ts$|\/testing\//.test(file));

  expect(product.flatMap(findTables).toSorted()).toEqual(Object.keys(OTHER_WORDS).toSorted());
});
