import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import { runCommand } from '../run-command.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../../services/tasks/adapter-kit/example');
const folder = mkdtempSync(path.join(tmpdir(), 'adapter-commands-'));
const file = path.join(folder, 'borealis.ts');

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
