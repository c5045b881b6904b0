import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { testConfig } from '../harness/test-config.ts';
import { start, stop } from './default-program.ts';

const TIMEOUT_MS = 180_000;
const ROOT = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-one-data-dir-'));
const running = new Set<ReturnType<typeof start>['child']>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Writes a configuration with ports of its own. All of them have one data_dir. */
async function newConfig(name: string): Promise<string> {
  const file = path.join(folder, `${name}.yaml`);
  writeFileSync(file, JSON.stringify(await testConfig({ dir: folder, upstream: '127.0.0.1:1' })));
  return file;
}

async function startOn(file: string) {
  const program = start(file);
  running.add(program.child);
  return { child: program.child, printed: await program.ready };
}

const command = (file: string, ...args: readonly string[]) =>
  run(process.execPath, [path.join(ROOT, 'deploy/cli/main.ts'), ...args], {
    env: { ...process.env, NODE_OPTIONS: '', REELGATE_CONFIG: file, INIT_CWD: folder },
  });

test(
  'a second program on one data_dir says so and ends, and one that follows a SIGKILL starts',
  async () => {
    const [first, second] = await Promise.all([newConfig('first'), newConfig('second')]);
    const { child } = await startOn(first);

    const refused = await startOn(second).catch((error: unknown) => String(error));

    expect(refused).toMatch(
      /ended with 1: reelgate cannot start:\ndata_dir: another program uses the store of \w+ in /,
    );
    expect(refused).toContain(path.join(folder, 'data'));
    expect(refused).not.toMatch(/\n +at /);
    expect((await command(first, 'ledger', 'verify', '--json')).stdout).toContain('"ok":true');
    expect((await command(first, 'migrate', 'tasks', '--check')).stdout).toContain('nothing is pending');
    expect((await command(first, 'backup', 'copy')).stdout).toMatch(/copy: \d+ files/);
    await stop(child, 'SIGKILL');
    const next = await startOn(second);
    await stop(next.child);
    const last = await startOn(first);
    await stop(last.child);
  },
  TIMEOUT_MS,
);
