import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { COMMANDS } from '../command-table.ts';
import { bashScript, zshScript, fishScript } from './completion.ts';

/** Runs bash's completion on the typed words, of which the last is unfinished. */
const AT_A_TAB = `source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_reelgate
printf '%s\\n' "\${COMPREPLY[@]}"`;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-completion-'));
  writeFileSync(path.join(folder, 'reelgate.bash'), bashScript(COMMANDS));
  writeFileSync(path.join(folder, 'first.yaml'), '');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function offered(line: string): string[] {
  const words = ['reelgate', ...line.split(' ')];
  const out = execFileSync('bash', ['-uc', AT_A_TAB, 'bash', path.join(folder, 'reelgate.bash'), ...words], {
    cwd: folder,
    encoding: 'utf8',
  });
  return out.split('\n').filter((word) => word !== '');
}

describe('bash offers', () => {
  test('every first word', () => {
    const first = Object.keys(COMMANDS).map((name) => name.split(' ')[0]);

    expect(new Set(offered(''))).toEqual(new Set(['help', ...first]));
  });

  test.each(Object.keys(COMMANDS))('every option of %s', (name) => {
    const options = Object.keys(COMMANDS[name]!.options).map((option) => `--${option}`);

    expect(offered(`${name} --`)).toEqual([...options, '--json', '--help']);
  });

  test.each<[string, string[]]>([
    ['ta', ['task']],
    ['task ', ['list', 'show']],
    ['task l', ['list']],
    ['--v', ['--version']],
    ['task list --s', ['--state']],
    ['task list --state ', ['queued', 'in_progress', 'completed', 'failed']],
    ['task list --account demo --state f', ['failed']],
    ['task list --account ', []],
    ['completion ', ['bash', 'zsh', 'fish']],
    ['help ', []],
    ['frobnicate ', []],
  ])('after %j', (line, words) => {
    expect(offered(line)).toEqual(words);
  });
});

test.each([
  ['zsh', zshScript],
  ['fish', fishScript],
])('the script of %s knows every command and option', (_shell, script) => {
  const text = script(COMMANDS);

  for (const [name, { options }] of Object.entries(COMMANDS)) {
    expect(text).toContain(name);
    for (const option of Object.keys(options)) expect(text).toMatch(new RegExp(`(--|-l )${option}\\b`));
  }
});
