import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

const ROOT = path.join(import.meta.dirname, '../..');
const CHECK = path.join(ROOT, 'deploy/local/fill-lock.mjs');
const HASH = 'sha512-ip';
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-lock-'));

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function checkLock(packages: object, allowScripts: object): { readonly status: number | null; readonly said: string } {
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ allowScripts }));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ packages: { '': {}, ...packages } }));
  const { status, stderr } = spawnSync(process.execPath, [CHECK, '--check', folder], { encoding: 'utf8' });
  return { status, said: stderr };
}

test.each([
  ['is on no list', { other: true }, 1],
  ['may run', { wanted: true }, 0],
  ['may not run', { wanted: false }, 0],
])('the check of a lock file with an install script that %s (%j) ends with %i', (_which, allowScripts, status) => {
  const wanted = { version: '1.0.0', integrity: HASH, hasInstallScript: true };

  const checked = checkLock({ 'node_modules/a/node_modules/wanted': wanted }, allowScripts);

  expect([checked.status, /install script: wanted has one/.test(checked.said)]).toEqual([status, status === 1]);
});

test.each([
  ['a package with a strong hash', { integrity: HASH }, 0],
  ['a package without a hash', {}, 1],
  ['a package with a weak hash', { integrity: 'sha1-ip' }, 1],
  ['a package of another platform without a hash', { optional: true, os: ['win32'] }, 1],
  ['a link to a workspace', { link: true, resolved: 'services/a' }, 0],
])('the check of a lock file with %s (%j) ends with %i', (_which, entry, status) => {
  const checked = checkLock({ 'node_modules/b/node_modules/a': { version: '1.0.0', ...entry } }, {});

  expect([checked.status, /hash: a 1\.0\.0 has none/.test(checked.said)]).toEqual([status, status === 1]);
});

/** They need no package, or name only scripts that install. */
const WITHOUT_INSTALL = [
  'test:all',
  'check:lock',
  'release:contracts',
  'check:licences',
  'check:advisories',
  'lock:fill',
];
const PROGRAMS = ['start', 'start:gateway', 'start:tasks', 'start:billing', 'start:media', 'reelgate'];

test('each script installs what it runs: the program its packages, every other script all of them', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Readonly<Record<string, string>>;
  };
  const installs = ([, script]: [string, string]): string | undefined =>
    /^node deploy\/local\/install\.mjs( program)? && /.exec(script)?.[0];
  const named = (install: string | undefined): string[] =>
    Object.entries(scripts)
      .filter((script) => installs(script) === install)
      .map(([name]) => name);

  expect(named('node deploy/local/install.mjs program && ')).toEqual(PROGRAMS);
  expect(named(undefined)).toEqual(WITHOUT_INSTALL);
});

test('npm runs no install script, and no script of this repository needs a pre-script', () => {
  const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
  const names = Object.keys(scripts);

  expect(readFileSync(path.join(ROOT, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  expect(names.filter((name) => names.some((other) => name === `pre${other}` || name === `post${other}`))).toEqual([]);
});
