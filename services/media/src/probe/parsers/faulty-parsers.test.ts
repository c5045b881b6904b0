import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { ANY_ACCOUNT, startProbePool } from '../../../testing/probe-pool-under-test.ts';
import { confinementOnce } from '../confinement/confinement.ts';
import { newProbePool } from '../pool/probe-pool.ts';
import { createParserFolder, sweepParserFolders } from './parser-folder.ts';
import { newParsers } from './parsers.ts';

const MIB = 1024 ** 2;
const TEST_MS = 120_000;
const script = fileURLToPath(new URL('../../../testing/faulty-parser.ts', import.meta.url));
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-faulty-'));
const pool = startProbePool({ script, timeoutMs: 2000, memoryBytes: 400 * MIB });
const [file, into] = [path.join(folder, 'file'), path.join(folder, 'into')] as const;
const GOOD = { facts: { family: 'image', mediaType: 'image/png', width: 1, height: 1 } };
const OVERRUN = { fault: 'overrun' };

afterAll(async () => {
  await pool.stop();
  rmSync(folder, { recursive: true });
});

const files = (): string[] =>
  readdirSync(pool.folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test.each(['abort', 'crash', 'leave', 'hold', 'wait', 'fill', 'flood', 'babble', 'lie'])(
  'a file that makes its parser %s is refused, and another process parses the next file',
  async (does) => {
    writeFileSync(file, does);
    const outcome = await pool.probe(file, ANY_ACCOUNT);
    writeFileSync(file, 'good');

    expect(outcome).toEqual(OVERRUN);
    expect(await pool.probe(file, ANY_ACCOUNT)).toEqual(GOOD);
    expect(files()).toEqual([]);
  },
  TEST_MS,
);

test(
  'a parser lets the services on its cores run first',
  async () => {
    const parsers = newParsers({
      newId: newIds(systemClock),
      folder: path.join(folder, 'gives-way'),
      confinement: confinementOnce(silentLog),
      script,
    });
    const parser = await parsers.start({ heapBytes: 64 * MIB, memoryBytes: 400 * MIB, processorMs: 20_000 });
    try {
      expect(os.getPriority(parser.pid)).toBe(os.constants.priority.PRIORITY_BELOW_NORMAL);
    } finally {
      await parser.kill();
    }
  },
  TEST_MS,
);

test.each([
  ['answers twice', 'twice'],
  ['answers again when the next file comes', 'late'],
  ['ends when the next file comes', 'leaveLater'],
])(
  'a parser that %s does not judge the next file: a new process does',
  async (_what, does) => {
    writeFileSync(file, does);
    await pool.probe(file, ANY_ACCOUNT);
    writeFileSync(file, 'good');

    expect(await pool.probe(file, ANY_ACCOUNT)).toEqual(GOOD);
    expect(files()).toEqual([]);
  },
  TEST_MS,
);

test.each([
  ['crash', [OVERRUN]],
  ['hold', [OVERRUN]],
  ['lie', [OVERRUN]],
  // its process is ended with the second answer, before or after the first one is taken
  ['twice', [GOOD, OVERRUN]],
])(
  'a file that makes its parser %s judges no other file that the process has at the same time',
  async (does, verdicts) => {
    const several = startProbePool({ script, filesMax: 4, timeoutMs: 2000, memoryBytes: 400 * MIB });
    const all = ['good', does, 'good', 'good'].map((what, at) => {
      const one = path.join(folder, `several-${at}`);
      writeFileSync(one, what);
      return several.probe(one, { accountId: `account_${at}` });
    });

    const [first, verdict, ...others] = await Promise.all(all);
    expect([first, ...others]).toEqual([GOOD, GOOD, GOOD]);
    expect(verdicts).toContainEqual(verdict);
    await several.stop();
  },
  TEST_MS,
);

test('a drawn picture is taken over, and a missing one is a refusal', async () => {
  writeFileSync(file, 'draw');
  writeFileSync(into, '');
  const drawn = await pool.redraw(file, into, ANY_ACCOUNT);
  const left = readFileSync(into, 'utf8');
  writeFileSync(file, 'nothing');

  expect([drawn, left]).toEqual([GOOD, 'drawn']);
  expect(await pool.redraw(file, into, ANY_ACCOUNT)).toEqual(OVERRUN);
  expect(files()).toEqual([]);
});

test('a process that does not start is a busy service, not a bad file, and is not retried immediately', async () => {
  const clock = fakeClock();
  const empty = path.join(folder, 'empty.ts');
  writeFileSync(empty, 'process.exit(1);');
  const parsers = newParsers({
    newId: newIds(systemClock),
    folder: path.join(folder, 'none'),
    confinement: confinementOnce(silentLog),
    script: empty,
  });
  let starts = 0;
  const counted = {
    start: async (...args: Parameters<typeof parsers.start>) => {
      starts += 1;
      return parsers.start(...args);
    },
  };
  const broken = newProbePool({
    clock,
    log: silentLog,
    parsers: counted,
    workers: 1,
    filesMax: 1,
    warm: 0,
    queueMax: 8,
    queuePerAccountMax: 8,
    timeoutMs: 2000,
    heapBytes: 64 * MIB,
    memoryBytes: 400 * MIB,
    pixelsMax: 100,
  });

  for (const after of [0, 0, 500]) {
    await clock.advance(after);
    await expect(broken.probe(file, ANY_ACCOUNT)).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'media_busy',
      retryAfterMs: expect.any(Number),
    });
  }
  expect(starts).toBe(2);
  await broken.stop();
});

describe('the folder of a process', () => {
  test.each<[string, (drawn: string, secret: string) => void]>([
    [
      'a symbolic link',
      (drawn, secret) => {
        symlinkSync(secret, drawn);
      },
    ],
    [
      'a hard link',
      (drawn, secret) => {
        linkSync(secret, drawn);
      },
    ],
    [
      'a folder',
      (drawn) => {
        mkdirSync(drawn);
      },
    ],
    ['nothing', () => undefined],
    [
      'an empty file',
      (drawn) => {
        writeFileSync(drawn, '');
      },
    ],
  ])('yields nothing for %s instead of a drawn picture', async (_what, leave) => {
    const own = createParserFolder(folder, 'own');
    const secret = path.join(folder, 'secret');
    writeFileSync(secret, 'of another account');
    writeFileSync(into, '');
    leave(own.drawn, secret);

    expect(await own.take(into)).toBe(false);
    expect(readFileSync(into, 'utf8')).toBe('');
    own.clear();
    expect(readFileSync(secret, 'utf8')).toBe('of another account');
    await own.remove();
  });

  test('is removed at the next start if the service crashed', () => {
    const root = path.join(folder, 'root');
    writeFileSync(createParserFolder(root, 'own').fileAt(0), 'left');
    sweepParserFolders(root);

    expect(existsSync(root)).toBe(true);
    expect(readdirSync(root)).toEqual([]);
  });
});
