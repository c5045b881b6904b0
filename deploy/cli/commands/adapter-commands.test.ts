import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { runCommand } from '../run-command.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../../services/tasks/adapter-kit/example');
const TEST_FILES = ['cancels', 'lists', 'polls', 'submit-answers', 'submit-requests', 'tests'];
const MAIN = path.join(import.meta.dirname, '../main.ts');
/** A list of cases on the page, after the name of its file. */
const SHOWN_CASE = /^`[\w-]+\.fixtures\/([\w-]+)\.json`.*\n\n```json\n([^]*?)^```$/gm;
const IMPORTED = /^import type .* from '(.*)';$/gm;
const listInside = (folder: string): readonly string[] =>
  statSync(folder).isFile() ? [] : readdirSync(folder, { recursive: true, encoding: 'utf8' });
let folder = '';
let file = '';

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'adapter-commands-'));
  file = path.join(folder, 'borealis.ts');
});
afterEach(() => {
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

test('adapter test prints a line for each case, and its exit code says whether all passed', async () => {
  cpSync(EXAMPLE, folder, { recursive: true });
  const out = jest.spyOn(console, 'log').mockImplementation(() => undefined);
  const err = jest.spyOn(console, 'error').mockImplementation(() => undefined);

  expect(await runCommand(['adapter', 'test', file], {})).toBe(0);
  const lines = out.mock.calls.flat().join('\n').split('\n');
  expect(lines.filter((line) => line.startsWith('ok '))).toHaveLength(lines.length - 1);
  expect(lines.at(-1)).toBe(`${lines.length - 1} cases passed`);
  expect(existsSync(path.join(folder, 'borealis.tested.json'))).toBe(true);

  writeFileSync(file, readFileSync(file, 'utf8').replace("'/v2/account'", "'/v2/accounts'"));
  expect(await runCommand(['adapter', 'test', file], {})).toBe(1);
  expect(out.mock.calls.flat().join('\n')).toMatch(
    /^failed {2}test understands a right key$[^]*2 of \d+ cases failed$/m,
  );

  writeFileSync(file, "import fs from 'node:fs';\n");
  expect(await runCommand(['adapter', 'test', file], {})).toBe(1);
  expect(err.mock.calls.flat().join('\n')).toContain(`${file}:1: `);
});

test('adapter test writes no control character of an adapter to the terminal', async () => {
  cpSync(EXAMPLE, folder, { recursive: true });
  const out = jest.spyOn(console, 'log').mockImplementation(() => undefined);
  const err = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const hostile = String.raw`throw new Error('a\u001b]0;mine\u0007b\u009b31m\r\u202ec\nd');`;
  const whole = readFileSync(file, 'utf8');

  for (const text of [
    whole.replace('readSubmit: (', `readSubmit: () => { ${hostile} }, other: (`),
    whole.replace('const unfit =', `${hostile} const unfit =`),
    `${hostile}\n${whole}`,
  ]) {
    writeFileSync(file, text);
    expect(await runCommand(['adapter', 'test', file], {})).toBe(1);
  }

  const written = [...out.mock.calls, ...err.mock.calls].flat().join('\n');
  expect(written).toMatch(/failed {2}.*\n {8}.*a ]0;mine b 31m/);
  expect(written.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

describe('adapter new', () => {
  const own = (name: string): string => path.join(folder, 'own', name);
  const read = (name: string): string => readFileSync(own(name), 'utf8');
  const callNew = (...args: readonly string[]): Promise<number> =>
    runCommand(['adapter', 'new', ...args], { INIT_CWD: folder });
  let out: jest.Spied<typeof console.log>;
  let err: jest.Spied<typeof console.error>;
  beforeEach(() => {
    out = jest.spyOn(console, 'log').mockImplementation(() => undefined);
    err = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });

  test('writes an adapter that passes its test as it is', async () => {
    expect(await callNew('sky-lark', '--in', 'own')).toBe(0);
    expect(await runCommand(['adapter', 'test', own('sky-lark.ts')], {})).toBe(0);

    expect(readdirSync(own('sky-lark.fixtures'))).toEqual(TEST_FILES.map((name) => `${name}.json`));
    expect(existsSync(own('sky-lark.tested.json'))).toBe(true);
  });

  test.each([
    ['027', ['new', 'skylark', '--in', 'own'], 0o640, 0o750],
    ['002', ['new', 'skylark', '--in', 'own'], 0o664, 0o775],
    ['027', ['test', 'borealis.ts'], 0o640, 0o750],
  ])('under umask %s, adapter %j makes files that its caller shares so', (umask, args, fileMode, folderMode) => {
    if (args[0] === 'test') cpSync(EXAMPLE, folder, { recursive: true });
    const before = new Set(readdirSync(folder));
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', MAIN, 'adapter', ...args];
    const options = { env: { ...process.env, INIT_CWD: folder }, stdio: 'pipe' } as const;
    execFileSync('sh', ['-c', 'umask "$1"; shift; exec "$@"', 'sh', umask, ...node], options);

    const made = readdirSync(folder).filter((name) => !before.has(name));
    const all = made.flatMap((name) => [
      name,
      ...listInside(path.join(folder, name)).map((one) => path.join(name, one)),
    ]);
    expect(all).not.toEqual([]);
    for (const name of all) {
      const stat = statSync(path.join(folder, name));
      expect([name, stat.mode & 0o777]).toEqual([name, stat.isFile() ? fileMode : folderMode]);
    }
  });

  test('shows cases on its page that the adapter passes, with `json` and `body` in their places', async () => {
    await callNew('skylark', '--in', 'own');
    const shown = [...read('README.md').matchAll(SHOWN_CASE)];
    expect(shown.map(([, name]) => name)).toEqual(['submit-requests', 'submit-answers']);
    for (const [, name, text] of shown) writeFileSync(own(`skylark.fixtures/${name}.json`), text ?? '');

    expect(await runCommand(['adapter', 'test', own('skylark.ts')], {})).toBe(0);
  });

  test.each([
    ['submit-requests', '"body"', '"json"', 'the request of "a text" has json; expected body'],
    ['submit-answers', '"json"', '"body"', 'the answer of "an id" has body; expected json, or text'],
  ])('its cases of %s say which of the two words is wrong', async (name, right, wrong, refusal) => {
    await callNew('skylark', '--in', 'own');
    const cases = own(`skylark.fixtures/${name}.json`);
    writeFileSync(cases, readFileSync(cases, 'utf8').replaceAll(right, wrong));

    expect(await runCommand(['adapter', 'test', own('skylark.ts')], {})).toBe(1);

    expect(err).toHaveBeenCalledWith(expect.stringContaining(refusal));
  });

  test('writes into ./adapters if no folder is named', async () => {
    expect(await callNew('skylark')).toBe(0);

    expect(existsSync(path.join(folder, 'adapters/skylark.ts'))).toBe(true);
  });

  test('writes every file from which the adapter takes its types', async () => {
    await callNew('skylark', '--in', 'own');

    const imported = [...read('skylark.ts').matchAll(IMPORTED)].map(([, from = '']) => from);
    expect(imported).toEqual(['./adapter-kit/adapter.ts', './adapter-kit/kit.ts']);
    for (const from of imported) expect(read(from)).toContain('export ');
  });

  test('writes the name and the folder into all that it writes', async () => {
    await callNew('skylark', '--in', 'own');

    const written = readdirSync(own('.'), { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    expect(read('README.md')).toContain('reelgate adapter test ./own/skylark.ts');
    for (const { parentPath, name } of written)
      expect(readFileSync(path.join(parentPath, name), 'utf8')).not.toMatch(/borealis|@reelgate/);
  });

  test('keeps each file that an earlier adapter shares, and says so', async () => {
    await callNew('skylark', '--in', 'own');
    for (const name of ['README.md', 'adapter-kit/kit.ts']) writeFileSync(own(name), 'mine');

    expect(await callNew('second', '--in', 'own', '--json')).toBe(0);

    expect([read('README.md'), read('adapter-kit/kit.ts')]).toEqual(['mine', 'mine']);
    expect(JSON.parse(String(out.mock.calls.at(-1)))).toMatchObject({
      kept: ['own/adapter-kit/adapter.ts', 'own/adapter-kit/kit.ts', 'own/README.md'],
    });
  });

  test.each(['skylark.ts', 'skylark.fixtures'])('writes nothing if %s is already there', async (taken) => {
    mkdirSync(own('.'));
    if (taken.endsWith('.ts')) writeFileSync(own(taken), 'mine');
    else mkdirSync(own(taken));

    expect(await callNew('skylark', '--in', 'own')).toBe(1);

    expect(err).toHaveBeenCalledWith(`${own(taken)} is already there; expected another name, or another folder`);
    expect(readdirSync(own('.'), { recursive: true })).toEqual([taken]);
    if (taken.endsWith('.ts')) expect(read(taken)).toBe('mine');
  });

  test.each([
    ['kling', 'the name kling belongs to a built-in adapter'],
    ['relay', 'the name relay belongs to a built-in adapter'],
    ['Skylark', 'small letters, digits and hyphens'],
    ['../skylark', 'small letters, digits and hyphens'],
    ['sky.lark', 'small letters, digits and hyphens'],
    ['', 'small letters, digits and hyphens'],
  ])('writes nothing under the name %j', async (name, reason) => {
    expect(await callNew(name, '--in', 'own')).toBe(1);

    expect(err).toHaveBeenCalledWith(expect.stringContaining(reason));
    expect(existsSync(own('.'))).toBe(false);
  });
});
