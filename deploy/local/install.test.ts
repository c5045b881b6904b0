import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const PROGRAM = ['node_modules/runs'];
const ALL = ['node_modules/runs', 'node_modules/tests', 'node_modules/tests/node_modules/below'];

/**
 * Stands for npm: writes down its calls, and installs empty packages with the folders of the lock file. As npm does, it
 * empties node_modules for `ci`, and takes a package that is there for whole. It leaves the last package half written
 * if FAILS names the command.
 */
const NPM = `
  import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
  const [command, ...options] = process.argv.slice(2);
  appendFileSync('npm-calls', command + ' ' + options.filter((option) => /=dev$/.test(option)).join(' ') + '\\n');
  const packages = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const here = Object.entries(packages).filter(([, { link, dev }]) =>
    !dev && !(link && options.includes('--omit=dev')) || !options.includes('--omit=dev'));
  if (command === 'ci') rmSync('node_modules', { recursive: true, force: true });
  for (const [at, entry] of here) if (at.startsWith('node_modules/') && !entry.link && !existsSync(at)) {
    mkdirSync(at, { recursive: true });
    if (process.env.FAILS === command && at.endsWith('/below')) process.kill(process.pid, 'SIGKILL');
    if (process.env.FAILS === command && command === 'ci' && !entry.dev) process.exit(1);
    writeFileSync(at + '/whole', '');
  }
  mkdirSync('node_modules/.bin', { recursive: true });
  if (!existsSync('node_modules/.bin/node')) symlinkSync(process.execPath, 'node_modules/.bin/node');
  const installed = Object.fromEntries(here.filter(([at]) => at !== ''));
  writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: installed }));
`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-install-test-'));
  mkdirSync(path.join(folder, 'deploy/local'), { recursive: true });
  cpSync(path.join(import.meta.dirname, 'install.mjs'), path.join(folder, 'deploy/local/install.mjs'));
  write('package.json', { type: 'module', allowScripts: {} });
  write('npm.js', NPM);
  writeLock('1.0.0');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function write(name: string, content: object | string): void {
  writeFileSync(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
}

function writeLock(version: string): void {
  write('package-lock.json', {
    packages: {
      '': {},
      'node_modules/@own/servers': { resolved: 'test/servers', link: true },
      'node_modules/runs': { version },
      'node_modules/tests': { version, dev: true },
      'node_modules/tests/node_modules/below': { version, dev: true },
      'test/servers': { version, dev: true },
    },
  });
}

/** Runs the installer as a script does. Returns its exit code and the calls of npm. */
async function install(set?: 'program', variables: Readonly<Record<string, string>> = {}): Promise<[number, string[]]> {
  write('npm-calls', '');
  const code = await start(set, variables);
  return [code, readCalls()];
}

async function start(set?: 'program', variables: Readonly<Record<string, string>> = {}): Promise<number> {
  const installer = spawn(process.execPath, ['deploy/local/install.mjs', ...(set === undefined ? [] : [set])], {
    cwd: folder,
    stdio: 'ignore',
    env: {
      ...process.env,
      TMPDIR: folder,
      npm_execpath: path.join(folder, 'npm.js'),
      npm_node_execpath: process.execPath,
      ...variables,
    },
  });
  const [code] = (await once(installer, 'exit')) as [number];
  return code;
}

const readCalls = (): string[] =>
  readFileSync(path.join(folder, 'npm-calls'), 'utf8').trim().split('\n').filter(Boolean);

/** The packages that are whole. */
const listWhole = (): readonly string[] => ALL.filter((at) => existsSync(path.join(folder, at, 'whole')));

test('a start installs what the program runs, the tests add the rest once, and a later start changes nothing', async () => {
  expect([await install('program'), listWhole()]).toEqual([[0, ['ci --omit=dev']], PROGRAM]);
  expect([await install('program'), listWhole()]).toEqual([[0, []], PROGRAM]);
  expect([await install(), listWhole()]).toEqual([[0, ['install --include=dev']], ALL]);
  expect([await install(), await install('program'), listWhole()]).toEqual([[0, []], [0, []], ALL]);
});

test('the tests of a fresh checkout install everything at once, and a start after them nothing', async () => {
  expect([await install(), await install('program'), listWhole()]).toEqual([[0, ['ci --include=dev']], [0, []], ALL]);
});

test('a start needs no registry after the tests were killed while they installed the rest', async () => {
  await install('program');
  expect((await install(undefined, { FAILS: 'install' }))[0]).toBe(1);

  expect([await install('program'), listWhole()[0]]).toEqual([[0, []], PROGRAM[0]]);
});

test('packages that a killed install of the rest has left half written are installed again', async () => {
  await install('program');
  await install(undefined, { FAILS: 'install' });
  expect(readdirSync(path.join(folder, 'node_modules/tests/node_modules'))).toEqual(['below']);

  expect([await install(), listWhole()]).toEqual([[0, ['install --include=dev']], ALL]);
});

test('an install that failed leaves no record, and the next start begins it anew', async () => {
  expect((await install('program', { FAILS: 'ci' }))[0]).toBe(1);

  expect([await install('program'), listWhole()]).toEqual([[0, ['ci --omit=dev']], PROGRAM]);
});

test('a start after a change of the lock file takes away no package of the tests', async () => {
  await install();
  writeLock('2.0.0');

  expect([await install('program'), listWhole()]).toEqual([[0, ['ci --include=dev']], ALL]);
});

test('a start after a change of the lock file installs no package of the tests where there was none', async () => {
  await install('program');
  writeLock('2.0.0');

  expect([await install('program'), listWhole()]).toEqual([[0, ['ci --omit=dev']], PROGRAM]);
});

test('a record from before there were two sets of packages stands for everything', async () => {
  await install();
  const marker = path.join(folder, 'node_modules/.reelgate-lock');
  write('node_modules/.reelgate-lock', readFileSync(marker, 'utf8').split(' ').slice(0, 2).join(' '));

  expect([await install(), await install('program')]).toEqual([
    [0, []],
    [0, []],
  ]);
});

test('a start and tests that begin at one moment install one after the other', async () => {
  write('npm-calls', '');
  expect(await Promise.all([start('program'), start()])).toEqual([0, 0]);

  expect([['ci --omit=dev', 'install --include=dev'], ['ci --include=dev']]).toContainEqual(readCalls());
  expect(listWhole()).toEqual(ALL);
});
