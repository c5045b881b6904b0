import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { assertConfined, confinementCheck } from './confinement-check.ts';
import { findConfinement } from './confinement.ts';
import type { Confinement } from './confinement.ts';
import type { ConfinementLevel } from './levels.ts';
import { parserCommand, parserEnvironment } from '../parsers/parser-command.ts';
import { listReadableCode } from '../parsers/parsers.ts';

const MIB = 1024 ** 2;
const TEST_MS = 120_000;
const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'media-confined-')));
const [own, secret, code] = ['own', 'secret', 'code'].map((name) => path.join(folder, name)) as [
  string,
  string,
  string,
];
const script = fileURLToPath(new URL('../../../testing/confined-child.ts', import.meta.url));
const PRIED = fileURLToPath(new URL('../../../testing/pried-service.ts', import.meta.url));
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
    readable: [...listReadableCode(), script],
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
  'without namespaces and Landlock every other restriction holds for code of JavaScript',
  async () => {
    expect(
      await openTo({ level: 'process', prefix: [], launcher: undefined, hasNetwork: true, shell: undefined }),
    ).toEqual({ ...CLOSED, connected: true });
  },
  TEST_MS,
);

/** Code of a file that took over its parser, at what level it ran, and what of the service it reached. */
interface Pried {
  readonly level: ConfinementLevel;
  readonly reached: readonly string[];
}

const pried = async (command: readonly string[], ...words: readonly string[]): Promise<Pried> => {
  const [program = '', ...args] = [...command, process.execPath, PRIED, ...words];
  const env = { ...process.env, NODE_OPTIONS: '', SECRET_OF_THE_TEST: 'a-secret-of-the-service-0123456789' };
  const { stdout } = await promisify(execFile)(program, args, { env });
  return JSON.parse(stdout) as Pried;
};
/** As a cluster without user namespaces: the kernel allows none in here, and the process has no capability. */
const WITHOUT_NAMESPACES = [
  ...['/usr/bin/unshare', '--user', '--map-root-user', '/bin/sh', '-c'],
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all --no-new-privs "$@"',
  'sh',
];

describe('native code that took over its parser', () => {
  test(
    'reaches nothing of the service in the strongest confinement of this machine',
    async () => {
      expect(await pried([])).toMatchObject({ level: confinement.level, reached: ['done'] });
    },
    TEST_MS,
  );

  test(
    'reaches nothing of the service where the kernel allows no user namespace',
    async () => {
      const isNested = confinement.prefix.includes('--user');
      expect(await pried(isNested ? WITHOUT_NAMESPACES : [])).toMatchObject({ level: 'landlock', reached: ['done'] });
    },
    TEST_MS,
  );

  test(
    'would reach all of it without confinement, so that the tests above can fail',
    async () => {
      expect((await pried([], 'process')).reached).toEqual(
        expect.arrayContaining([
          ...[
            'environment of a process',
            'memory of the process',
            'signal to the process',
            'tcp',
            'udp',
            'unix socket',
          ],
          ...[
            'file FOLDER/data/signing-key',
            'file FOLDER/reelgate.yaml',
            'file FOLDER/key.pem',
            'names in FOLDER/data',
          ],
        ]),
      );
    },
    TEST_MS,
  );
});

describe('the least confinement that is accepted', () => {
  test.each([
    [
      'namespaces',
      'landlock',
      /media\.probe\.confinement: .*\(landlock\).*; expected namespaces: allow user namespaces/,
    ],
    ['namespaces', 'process', /\(process\).*; expected namespaces: a Linux kernel with Landlock/],
    ['landlock', 'process', /\(process\).*; expected landlock: .*; or accept process$/],
  ] as const)('%s refuses a start at %s', (least, level, refusal) => {
    expect(() => {
      assertConfined(level, least);
    }).toThrow(refusal);
  });

  test.each([
    ['namespaces', 'namespaces'],
    ['landlock', 'namespaces'],
    ['landlock', 'landlock'],
    ['process', 'process'],
  ] as const)('%s accepts %s', (least, level) => {
    assertConfined(level, least);
  });

  test('the doctor says which one is in force, and warns of the weakest', async () => {
    const verdictOf = (level: ConfinementLevel): unknown =>
      confinementCheck(async () => ({ level })).check(new AbortController().signal);

    expect(await verdictOf('namespaces')).toMatchObject({
      grade: 'ok',
      detail: expect.stringMatching(/\(namespaces\)$/),
    });
    expect(await verdictOf('landlock')).toMatchObject({ grade: 'ok', detail: expect.stringMatching(/\(landlock\)$/) });
    expect(await verdictOf('process')).toMatchObject({ grade: 'warn', advice: expect.stringContaining('Landlock') });
  });
});

test('a parser has limits on processor time, files and memory, and leaves no core', async () => {
  if (confinement.shell === undefined) return;
  const [shell, ...args] = commandWith(confinement);
  // the limits of the shell outlast the rest of the command, which hides /proc
  const command = args.slice(0, args.indexOf(confinement.prefix[0] ?? confinement.launcher?.[0] ?? process.execPath));
  const { stdout } = await promisify(execFile)(shell, [...command, '/bin/cat', '/proc/self/limits'], { env: {} });
  const hard = (name: string): number => Number(new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, 'm').exec(stdout)?.[1]);

  expect(hard('Max cpu time')).toBe(20);
  expect(hard('Max core file size')).toBe(0);
  expect(hard('Max open files')).toBeLessThanOrEqual(128);
  expect(hard('Max file size')).toBeLessThanOrEqual(1024 * MIB);
  expect(hard('Max data size')).toBeLessThanOrEqual(1536 * MIB);
});
