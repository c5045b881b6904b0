import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { fixture } from '../../services/media/testing/origin.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const PROMPT = 'a boat that only its owner sees';
const STRANGER = 65_534;
const SETPRIV = '/usr/bin/setpriv';
const isRoot = process.getuid?.() === 0;

let upstream: ScriptedUpstream;
let program: Program | undefined;
let umask: number;

beforeAll(async () => {
  // the loosest mask that a machine can have
  umask = process.umask(0);
  upstream = await startScriptedUpstream();
});
afterEach(async () => {
  await program?.end();
  program = undefined;
});
afterAll(async () => {
  await upstream?.stop();
  process.umask(umask);
});

async function startedProgram(change?: (config: TestConfig) => TestConfig): Promise<Program> {
  program = await newProgram('one program', { upstream: upstream.host }, change);
  return program;
}

/** The entries of a folder, itself included, with their modes. */
function modesIn(folder: string): readonly (readonly [string, string])[] {
  return ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })].map((name) => {
    const { mode } = lstatSync(path.join(folder, name));
    return [name, (mode & 0o777).toString(8)] as const;
  });
}

const isFolder = (folder: string, name: string): boolean => lstatSync(path.join(folder, name)).isDirectory();

function expectPrivate(folder: string): void {
  const modes = modesIn(folder);
  expect(modes).toEqual(modes.map(([name]) => [name, isFolder(folder, name) ? '700' : '600']));
}

async function work({ base }: Program): Promise<void> {
  const image = `data:image/png;base64,${fixture('image.png').toString('base64')}`;
  const created = await httpCaller(base, KEYS.demo).call('POST', '/v2/video_generation', {
    model: 'Alpha-H3',
    content: [
      { type: 'text', text: PROMPT },
      { type: 'image_url', image_url: { url: image }, role: 'first_frame' },
    ],
    duration: 5,
    resolution: '768P',
  });
  expect([created.status, created.text]).toEqual([200, expect.any(String)]);
}

test(
  'every file of the data folder is its owner’s alone, whatever the mask',
  async () => {
    const { config, start } = await startedProgram();
    await start();
    await work(program!);

    const names = modesIn(config.data_dir).map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['tasks.sqlite', 'tasks.sqlite-wal', 'tasks.sqlite-shm']));
    expectPrivate(config.data_dir);
    const log = path.join(config.data_dir, 'tasks.sqlite-wal');
    expect(readFileSync(log).includes(PROMPT)).toBe(true);
    if (isRoot) expect(readAsStranger(log)).toMatch(/Permission denied/);
  },
  TIMEOUT_MS,
);

function readAsStranger(file: string): string {
  chmodSync(path.dirname(path.dirname(file)), 0o755);
  try {
    return execFileSync(SETPRIV, [`--reuid=${STRANGER}`, '--clear-groups', 'cat', file], {
      stdio: 'pipe',
    }).toString();
  } catch (error) {
    return String((error as { readonly stderr: Buffer }).stderr);
  }
}

test(
  'a looser data folder is private after the start, and a link out of it stays as it is',
  async () => {
    const { config, start, stop } = await startedProgram();
    await start();
    await work(program!);
    await stop();
    const outside = path.join(config.data_dir, '..', 'outside');
    writeFileSync(outside, 'x', { mode: 0o644 });
    execFileSync('ln', ['-s', outside, path.join(config.data_dir, 'link')]);
    mkdirSync(path.join(config.data_dir, 'blobs', 'ab', 'deep'), { recursive: true });
    writeFileSync(path.join(config.data_dir, 'blobs', 'ab', 'deep', 'file'), 'x', { mode: 0o666 });
    execFileSync('chmod', ['-R', 'go+rwX', config.data_dir]);

    await start();

    rmSync(path.join(config.data_dir, 'link'));
    expectPrivate(config.data_dir);
    expect(lstatSync(outside).mode & 0o777).toBe(0o644);
    expect(program!.output()).toMatch(/other users of this machine could read the data folder; it is private now/);
  },
  TIMEOUT_MS,
);

test(
  'the doctor names a file of the data folder that others can read',
  async () => {
    const { config, start, command } = await startedProgram();
    await start();
    const lines = async () =>
      (
        (await command('doctor')).json as { lines: { part: string; grade: string; detail: string; advice: string }[] }
      ).lines.filter(({ part }) => part === 'data folder');
    expect(await lines()).toEqual([expect.objectContaining({ grade: 'ok' })]);

    chmodSync(path.join(config.data_dir, 'billing.sqlite'), 0o644);

    await until(async () => (await lines())[0]?.grade === 'warn');
    expect(await lines()).toEqual([
      expect.objectContaining({
        detail: expect.stringMatching(/other users can read .*billing\.sqlite; files .*: 1$/),
        advice: `chmod -R go= ${config.data_dir}`,
      }),
    ]);
  },
  TIMEOUT_MS,
);

test(
  'a data folder that all users share is refused',
  async () => {
    const shared = mkdtempSync(path.join(tmpdir(), 'reelgate-shared-'));
    chmodSync(shared, 0o1777);
    const { start, output } = await startedProgram((config) => ({ ...config, data_dir: shared }));

    await expect(start()).rejects.toThrow();
    expect(output()).toMatch(/data_dir: expected a folder of its own; .* is shared by all users/);
    expect(lstatSync(shared).mode & 0o7777).toBe(0o1777);
    rmSync(shared, { recursive: true });
  },
  TIMEOUT_MS,
);

(isRoot ? test : test.skip)(
  'a data folder of another user is refused, and the root of a volume with a group is used',
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-volume-'));
    const script = path.join(import.meta.dirname, '../../deploy/program/data-folder/private-data.ts');
    const keep = (): string => {
      const call = `import('${script}').then(({ keepPrivate, findShared }) => console.log(JSON.stringify([keepPrivate('${folder}'), findShared('${folder}', 9)]))).catch((error) => console.log(error.message))`;
      return execFileSync(
        SETPRIV,
        [
          `--reuid=${STRANGER}`,
          '--regid=4242',
          '--clear-groups',
          process.execPath,
          '--disable-warning=ExperimentalWarning',
          '-e',
          call,
        ],
        { stdio: 'pipe', cwd: '/' },
      ).toString();
    };
    chownSync(folder, 1, 1);
    chmodSync(folder, 0o777);
    expect(keep()).toMatch(/data_dir: expected a folder of the user 65534; .* belongs to the user 1/);

    chownSync(folder, 0, 4242);
    chmodSync(folder, 0o2777);
    writeFileSync(path.join(folder, 'own'), 'x', { mode: 0o660 });
    chownSync(path.join(folder, 'own'), STRANGER, 4242);
    expect(keep()).toMatch(/\[\{"repaired":1,"left":0\},\[\]\]/);
    rmSync(folder, { recursive: true });
  },
);
