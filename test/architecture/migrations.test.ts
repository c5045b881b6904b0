import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { readMigrations } from '../../services/platform/src/sql/migration-files.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const FOLDERS = ['tasks', 'billing', 'media'].map((service) => path.join(ROOT, 'services', service, 'migrations'));

/** What a program of the release before may not survive. An index is no promise, unless it is unique. */
const TIGHTENING: readonly (readonly [what: string, statement: RegExp])[] = [
  ['drops a table', /\bDROP\s+TABLE\b/i],
  ['drops a column', /\bDROP\s+(COLUMN\b|(?!INDEX\b|COLUMN\b|DEFAULT\b|NOT\b|TABLE\b)\w+)/i],
  ['renames', /\bRENAME\b/i],
  ['changes a type', /\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+DATA\s+)?TYPE\b/i],
  ['drops a default', /\bDROP\s+DEFAULT\b/i],
  ['requires a value', /\bSET\s+NOT\s+NULL\b/i],
  ['adds a required column without a default', /\bADD\s+(COLUMN\s+)?(?![^;]*\bDEFAULT\b)[^;]*\bNOT\s+NULL\b/i],
  ['adds a constraint', /\bADD\s+(CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b/i],
  ['adds a unique index', /\bCREATE\s+UNIQUE\s+INDEX\b/i],
];

/** A table that the same migration makes is in no other program yet. */
function tighteningIn(statements: readonly string[]): string[] {
  const made = statements.flatMap((one) => /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(one)?.[1] ?? []);
  return statements
    .filter((one) => !made.some((table) => new RegExp(`\\b(ON|TABLE)\\s+${table}\\b`, 'i').test(one)))
    .flatMap((one) => TIGHTENING.filter(([, pattern]) => pattern.test(one)).map(([what]) => what));
}

describe('the rule for migrations', () => {
  test.each([
    ['CREATE TABLE a (id TEXT PRIMARY KEY, b TEXT NOT NULL UNIQUE)', []],
    ['ALTER TABLE a ADD COLUMN b TEXT', []],
    ["ALTER TABLE a ADD COLUMN b TEXT NOT NULL DEFAULT ''", []],
    ['ALTER TABLE a ADD COLUMN b INTEGER CHECK (b > 0)', []],
    ['DROP INDEX a_by_b', []],
    ['CREATE INDEX a_by_b ON a (b)', []],
    ['DROP TABLE a', ['drops a table']],
    ['ALTER TABLE a DROP COLUMN b', ['drops a column']],
    ['ALTER TABLE a DROP b', ['drops a column']],
    ['ALTER TABLE a RENAME TO b', ['renames']],
    ['ALTER TABLE a RENAME COLUMN b TO c', ['renames']],
    ['ALTER TABLE a ALTER COLUMN b TYPE BIGINT', ['changes a type']],
    ['ALTER TABLE a ALTER b SET DATA TYPE BIGINT', ['changes a type']],
    ['ALTER TABLE a ALTER COLUMN b SET NOT NULL', ['requires a value']],
    ['ALTER TABLE a ALTER COLUMN b DROP DEFAULT', ['drops a default']],
    ['ALTER TABLE a ADD COLUMN b TEXT NOT NULL', ['adds a required column without a default']],
    ['ALTER TABLE a ADD CONSTRAINT c CHECK (b > 0)', ['adds a constraint']],
    ['CREATE UNIQUE INDEX a_b ON a (b)', ['adds a unique index']],
  ])('of %j finds %j', (statement, found) => {
    expect(tighteningIn([statement])).toEqual(found);
  });
});

describe.each(FOLDERS.map((folder) => [path.relative(ROOT, folder), folder] as const))('%s', (_name, folder) => {
  const migrations = readMigrations(folder);
  const names = migrations.map(({ name }) => name);

  test('has only numbered SQL files', () => {
    expect(readdirSync(folder).filter((name) => !/^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toEqual([]);
  });

  test.each(migrations.map((one, at) => [one.name, one, at] as const))(
    '%s leaves the program of the release before working, or says which one it needs',
    (_name, { statements, needs }, at) => {
      if (needs === undefined) expect(tighteningIn(statements)).toEqual([]);
      else expect(names.slice(0, at)).toContain(needs);
    },
  );

  test('says what it needs in the form that the runner reads', () => {
    const loose = names.filter((name) => /^--\s*contract:/im.test(readFileSync(path.join(folder, name), 'utf8')));
    expect(loose.filter((name) => migrations.find((one) => one.name === name)?.needs === undefined)).toEqual([]);
  });
});
