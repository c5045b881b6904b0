import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const DEPLOY = path.resolve(import.meta.dirname, '../..');
const ENVIRONMENT = { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' };

let folder = '';
let file = '';
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-check-'));
  file = path.join(folder, 'reelgate.yaml');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function check(text: string, { beside, options = [] }: { beside?: string; options?: readonly string[] } = {}) {
  writeFileSync(file, text);
  const main = path.join(DEPLOY, 'cli/main.ts');
  const named = beside === undefined ? file : `${file}:${beside}`;
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'config', 'check', named, ...options], {
    env: ENVIRONMENT,
    encoding: 'utf8',
  });
  return { status, stdout: stdout.replaceAll(file, 'FILE'), stderr };
}

test('every refusal and every warning is named with file, line and key, and the exit code is 1', () => {
  const text = [
    'models:',
    '  m: { kind: video, duration: [15, 4], resolutions: [768P], ratios: ["16:9"] }',
    'media:',
    '  inline: { max_bytes: 64MiB, per_account: 1MiB }',
    'prices:',
    '  gpt-4.1.mini: { per_request: "2000000000" }',
  ].join('\n');

  const { status, stdout } = check(text);

  expect(status).toBe(1);
  expect(stdout.split('\n')).toEqual([
    'refused: FILE:6: prices.gpt-4.1.mini.per_request: expected at most "1000000000"',
    'refused: FILE:4: media.inline.per_account: expected at least media.inline.max_bytes',
    expect.stringMatching(/^refused: FILE:2: models\.m\.duration: /),
    expect.stringMatching(/^refused: FILE:2: models\.m\.defaults\.duration: /),
    expect.stringMatching(/^warning: FILE:2: models\.m: no channel has this model/),
    expect.stringMatching(/^warning: FILE:6: prices\.gpt-4\.1\.mini: no channel has this model/),
    'FILE: this configuration does not start',
    '',
  ]);
});

test('the start refuses what the check refuses, in the same words', () => {
  const text = 'media:\n  inline: { per_account: 1MiB }\nprices:\n  a: { per_request: "2000000000" }\n';
  const { stdout } = check(text, { options: ['--json'] });
  const started = spawnSync(process.execPath, [path.join(DEPLOY, 'program/main.ts')], {
    env: { ...ENVIRONMENT, REELGATE_CONFIG: file },
    encoding: 'utf8',
  });
  const { ok, refused } = JSON.parse(stdout) as { ok: boolean; refused: string[] };

  expect([ok, refused.length]).toEqual([false, 2]);
  expect(started.status).toBe(1);
  expect(started.stderr.replaceAll(file, 'FILE')).toBe(`reelgate cannot start:\n${refused.join('\n')}\n`);
});

test.each([
  ['gatway: {}', /^refused: FILE:1: gatway: no such key/],
  ['gateway: {', /^refused: FILE:1: not YAML/],
])('%j is refused', (text, expected) => {
  const { status, stdout } = check(text);

  expect(status).toBe(1);
  expect(stdout).toMatch(expected);
});

test('several files and folders are checked together, as REELGATE_CONFIG names them', () => {
  const lists = path.join(folder, 'lists');
  mkdirSync(lists);
  const prices = path.join(lists, 'prices.yaml');
  writeFileSync(prices, 'tasks: { retention: 1d }\n');
  const { status, stdout } = check('tasks: { retention: 2d }', { beside: lists });
  rmSync(lists, { recursive: true });

  expect([status, stdout.split('\n')[0]]).toEqual([
    1,
    `refused: ${prices}:1: tasks.retention: is also set at FILE:1; expected it in one of the two`,
  ]);
});

test('--service checks the file for that service alone in a process', () => {
  expect(check('tasks: { listen: "127.0.0.1:9101" }').status).toBe(0);
  expect(check('tasks: { listen: "127.0.0.1:9101" }', { options: ['--service', 'tasks'] })).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^refused: FILE:1: bus: /),
  });
});

test('a check needs no running program and leaves no file behind', () => {
  expect(check('data_dir: ./made')).toMatchObject({
    status: 0,
    stdout: 'FILE: this configuration starts\n',
    stderr: '',
  });
  expect(readdirSync(folder)).toEqual(['reelgate.yaml']);
});

test('the configuration of npm start is in order', () => {
  const main = path.join(DEPLOY, 'cli/main.ts');
  const args = [main, 'config', 'check', path.join(DEPLOY, 'local/reelgate.yaml'), '--json'];

  expect(JSON.parse(execFileSync(process.execPath, args, { env: ENVIRONMENT, encoding: 'utf8' }))).toEqual({
    ok: true,
    refused: [],
    warnings: [],
  });
});
