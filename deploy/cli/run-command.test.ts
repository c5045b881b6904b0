import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { COMMANDS } from './command-table.ts';
import { parseCall } from './parse-call.ts';
import { runCommand } from './run-command.ts';

const MAIN = path.join(import.meta.dirname, 'main.ts');
const names = Object.keys(COMMANDS);

async function typed(...args: string[]) {
  const out = jest.spyOn(console, 'log').mockImplementation(() => undefined);
  const err = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  const code = await runCommand(args, {});
  const printed = { code, out: out.mock.calls.flat().join('\n'), err: err.mock.calls.flat().join('\n') };
  jest.restoreAllMocks();
  return printed;
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** The words of an example, split as a shell does. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

describe('help', () => {
  test.each([[['--help']], [['-h']], [['help']]])(
    '%j lists every command in one line, on standard output',
    async (args) => {
      const { code, out, err } = await typed(...args);

      expect([code, err]).toEqual([0, '']);
      for (const name of names) {
        const lines = out.split('\n').filter((line) => line.startsWith(`  ${name} `));
        expect(lines).toEqual([expect.stringContaining(COMMANDS[name]!.summary)]);
      }
      expect(out).toMatch(/^Example:\n {2}reelgate \S/m);
    },
  );

  test.each(names)('%s --help names its options and an example', async (name) => {
    const page = await typed(...name.split(' '), '--help');

    expect([page.code, page.err]).toEqual([0, '']);
    expect(page.out).toMatch(new RegExp(`^usage: reelgate ${name}`));
    for (const option of Object.keys(COMMANDS[name]!.options)) expect(page.out).toContain(`--${option}`);
    expect(page.out).toContain(`reelgate ${COMMANDS[name]!.example}`);
    expect(await typed('help', ...name.split(' '))).toEqual(page);
  });

  test.each(names)('the example of %s is a valid call of that command', (name) => {
    const { example, options } = COMMANDS[name]!;
    const call = parseCall(wordsOf(example), COMMANDS);

    expect(call.name).toBe(name);
    expect(Object.keys(options)).toEqual(expect.arrayContaining(Object.keys(call.options)));
  });

  test('a command needs no configuration to show its help', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'task', 'list', '--help'], {
      env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', REELGATE_CONFIG: '/nowhere.yaml' },
    });

    expect(stdout).toMatch(/^usage: reelgate task list/);
  });

  test('--version prints the version of the package', async () => {
    expect(await typed('--version')).toEqual({
      code: 0,
      out: expect.stringMatching(/^reelgate \d+\.\d+\.\d+$/),
      err: '',
    });
  });
});

describe('a wrong call ends with exit code 2, and standard error says what would be right', () => {
  test.each<[string, RegExp]>([
    ['', /^reelgate: the command line .*[^]*Commands:/],
    ['tsk list', /^unknown command tsk list; did you mean task list\?\n/],
    ['task lst', /did you mean task list\?/],
    ['task', /^task needs a second word; expected one of: task list, task show\n/],
    ['task frobnicate', /^unknown command task frobnicate; expected one of: task list, task show\n/],
    ['ledgr verify', /did you mean ledger verify\?/],
    ['help tsk', /did you mean task\?/],
    ['frobnicate', /^unknown command frobnicate\nreelgate --help lists the commands$/],
    ['task list --stat failed', /^unknown option --stat; did you mean --state\?/],
    ['task list --frobnicate', /^unknown option --frobnicate\n/],
    [
      'task list --state done',
      /^--state takes one of: queued, in_progress, completed, failed; not done\nusage: reelgate task list/,
    ],
    ['task list --limit', /--limit/],
    ['task list --limit many', /^--limit takes a whole number from 1 to 1000, not many/],
    ['task list more', /^unexpected more/],
    ['task list --reason x', /^task list has no option --reason\nusage: reelgate task list/],
    ['task show', /^name a task\n/],
    [
      'account credit demo 5',
      /^--reason TEXT is missing: the reason, for the ledger\nusage: reelgate account credit ID AMOUNT --reason TEXT/,
    ],
    ['account credit demo five --reason x', /^expected an amount such as 5\.25, not five/],
    ['attention resolve task_1', /^--as OUTCOME is missing/],
    ['attention resolve --as failed', /^name one task\nusage: reelgate attention resolve ID…/],
    [
      `attention resolve ${Array.from({ length: 201 }, (_, at) => `task_${at}`).join(' ')} --as failed`,
      /^name at most 200 tasks, not 201/,
    ],
    ['token create --account demo --models * --in-flight 0', /^--in-flight takes a whole number such as 600, not 0/],
    ['token create --account demo --models * --webhooks all', /^--webhooks takes one of: write, read, none; not all/],
    ['token create --account demo --models * --tokens all', /^--tokens takes one of: write, read, none; not all/],
    ['token limit token_1', /^name the limits of the token, or --none to remove them/],
    ['token limit token_1 --limit 5 --class batch', /^name --wait and --class together/],
    ['token limit token_1 --limit 5 --none', /^name the limits of the token, or --none to remove them/],
    ['account list --limit 201', /^--limit takes a whole number from 1 to 200, not 201/],
    ['account list --by name', /^--by takes one of: id, balance; not name/],
    ['webhook create --account demo --name site --events a', /^--url URL is missing/],
    ['webhook list', /^--account ID is missing: the account\n/],
    ['token create --account demo --models * --expires soon', /^expected a duration such as 12h or 30d, not soon/],
    ['usage show demo --from 2026-02-30', /^expected a day such as 2026-11-30, not 2026-02-30/],
    ['completion tcsh', /^name one shell: bash, zsh, fish/],
  ])('%s', async (line, expected) => {
    const { code, out, err } = await typed(...wordsOf(line));

    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(expected);
  });
});
