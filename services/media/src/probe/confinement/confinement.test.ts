import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { findConfinement } from './confinement.ts';
import type { Confinement } from './confinement.ts';
import { parserCommand, parserEnvironment } from '../parsers/parser-command.ts';
import { readableCode } from '../parsers/readable-code.ts';

const MIB = 1024 ** 2;
const TEST_MS = 60_000;
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'media-confined-')));
const [own, secret, code] = ['own', 'secret', 'code'].map((name) => path.join(folder, name)) as [
  string,
  string,
  string,
];
const script = fileURLToPath(new URL('../../../testing/confined-child.ts', import.meta.url));
const server = createServer((socket) => socket.end());
let confinement: Confinement;

beforeAll(async () => {
  mkdirSync(own);
  mkdirSync(code);
  writeFileSync(secret, 'signing key');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  confinement = await findConfinement(silentLog);
});
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

const commandWith = (by: Confinement): readonly [string, ...string[]] =>
  parserCommand({
    confinement: by,
    script,
    readable: [...readableCode(), script],
    writable: own,
    code,
    heapBytes: 64 * MIB,
    memoryBytes: 512 * MIB,
    processorMs: 20_000,
  });

async function openTo(by: Confinement): Promise<Record<string, unknown>> {
  const [program, ...args] = commandWith(by);
  const { port } = server.address() as AddressInfo;
  const { stdout } = await promisify(execFile)(program, [...args, secret, String(port), String(process.pid), own], {
    env: parserEnvironment(own, code),
    cwd: own,
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

const CLOSED = {
  environment: ['MALLOC_ARENA_MAX', 'NODE_COMPILE_CACHE', 'TMPDIR'],
  secret: false,
  root: false,
  parent: false,
  write: false,
  own: true,
  child: false,
  worker: false,
  binding: false,
  code: false,
  loaded: [],
  fetch: 'undefined',
  builtin: 'undefined',
};

test(
  'a parser reads its code and its file, writes into its folder, and has no environment, network or other processes',
  async () => {
    expect(await openTo(confinement)).toEqual({ ...CLOSED, connected: confinement.hasNetwork });
  },
  TEST_MS,
);

test(
  'without namespaces every other restriction holds',
  async () => {
    expect(await openTo({ prefix: [], hasNetwork: true, shell: undefined })).toEqual({ ...CLOSED, connected: true });
  },
  TEST_MS,
);

test('a user namespace keeps even native code from the environment and the memory of the service', async () => {
  const cat = [...confinement.prefix, '/bin/cat', `/proc/${String(process.pid)}/environ`];
  const read = promisify(execFile)(cat[0] ?? '', cat.slice(1), { env: {} }).then(
    () => true,
    () => false,
  );

  expect(await read).toBe(!confinement.prefix.includes('--user'));
});

test('a parser has limits on processor time, files and memory, and leaves no core', async () => {
  if (confinement.shell === undefined) return;
  const [shell, ...args] = commandWith(confinement);
  const command = args.slice(0, args.indexOf(process.execPath));
  const { stdout } = await promisify(execFile)(shell, [...command, '/bin/cat', '/proc/self/limits'], { env: {} });
  const hard = (name: string): number => Number(new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(stdout)?.[1]);

  expect(hard('Max cpu time')).toBe(20);
  expect(hard('Max core file size')).toBe(0);
  expect(hard('Max open files')).toBeLessThanOrEqual(128);
  expect(hard('Max file size')).toBeLessThanOrEqual(1024 * MIB);
  expect(hard('Max data size')).toBeLessThanOrEqual(1536 * MIB);
});
