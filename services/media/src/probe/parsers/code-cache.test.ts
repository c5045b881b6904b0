import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { newIds } from '@reelgate/platform/ids';
import { until } from '@reelgate/platform/testing/until';
import type { Confinement } from '../confinement/confinement.ts';
import { newCodeCache } from './code-cache.ts';
import type { Parser } from './parser-process.ts';
import { newParsers } from './parsers.ts';

const MIB = 1024 ** 2;
const [TEST_MS, UNTIL_MS] = [120_000, 60_000];
const LIMITS = { heapBytes: 256 * MIB, memoryBytes: 1024 * MIB, processorMs: 60_000 };
const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'media-code-')));

afterAll(() => {
  rmSync(root, { recursive: true });
});

/** Every file below a folder, with its content. */
const filesIn = (folder: string): readonly (readonly [string, string])[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [path.relative(folder, file), readFileSync(file, 'latin1')] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));

/** Each process stops before it runs Node, until `goOn`. */
const STOPPED: Confinement = {
  level: 'process',
  prefix: ['/bin/sh', '-c', 'kill -STOP $$; exec "$@"', 'sh'],
  launcher: undefined,
  hasNetwork: true,
  shell: undefined,
};

interface Stopped {
  readonly parser: Parser;
  /** The folder of its compiled code. */
  readonly code: string;
  /** Continues it, and gives whether it can take a file. */
  goOn(): Promise<boolean>;
}

/** Parsers with a temporary folder of this name. Each is stopped when it has its folders and not yet its code. */
function stoppedParsers(name: string): {
  readonly folder: string;
  readonly temporary: string;
  startNext(): Promise<Stopped>;
} {
  const [folder, temporary] = [path.join(root, name, 'files'), path.join(root, name, 'temporary')];
  mkdirSync(temporary, { recursive: true });
  const parsers = newParsers({
    folder,
    newId: newIds(systemClock),
    confinement: async () => STOPPED,
    cache: newCodeCache(temporary),
  });
  return {
    folder,
    temporary,
    startNext: async () => {
      const known = new Set(readdirSync(temporary));
      const parser = await parsers.start(LIMITS);
      const code = path.join(temporary, readdirSync(temporary).find((each) => !known.has(each)) ?? 'none');
      const pid = parser.pid ?? Number.NaN;
      await until(() => readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') T '), UNTIL_MS);
      const goOn = (): Promise<boolean> => {
        process.kill(pid, 'SIGCONT');
        return parser.isUp(systemClock);
      };
      return { parser, code, goOn };
    },
  };
}

test(
  'a parser starts with a copy of what the first one compiled, which no other parser can write',
  async () => {
    const { temporary, startNext } = stoppedParsers('copies');
    const first = await startNext();
    const before = filesIn(first.code);
    const [isUp, left] = [await first.goOn(), readdirSync(temporary)];
    const hostile = await startNext();
    const copied = filesIn(hostile.code);
    for (const [file] of copied) writeFileSync(path.join(hostile.code, file), 'hostile');
    const next = await startNext();
    const changed = filesIn(next.code).filter(
      ([file, content], at) => file !== copied[at]?.[0] || content !== copied[at]?.[1],
    );
    await Promise.all([first, hostile, next].map(({ parser }) => parser.kill()));

    expect([before, isUp, left, changed]).toEqual([[], true, [], []]);
    expect(copied.length).toBeGreaterThan(50);
    expect(next.code).not.toBe(hostile.code);
  },
  TEST_MS,
);

test(
  'the compiled code of a parser is in a temporary folder, for the time of its start and for this user alone',
  async () => {
    const { folder, temporary, startNext } = stoppedParsers('removed');
    await (await startNext()).goOn();
    const { parser, code, goOn } = await startNext();
    const [mode, files] = [statSync(code).mode & 0o777, filesIn(folder)];
    const isUp = await goOn();
    const left = readdirSync(temporary);
    await parser.kill();

    expect([mode, files, isUp, left]).toEqual([0o700, [], true, []]);
  },
  TEST_MS,
);

test(
  'a parser that does not start leaves no compiled code behind',
  async () => {
    const { temporary, startNext } = stoppedParsers('ended');
    const { parser, goOn } = await startNext();
    process.kill(parser.pid ?? Number.NaN, 'SIGKILL');
    const isUp = await goOn().catch(() => false);

    expect([isUp, readdirSync(temporary)]).toEqual([false, []]);
  },
  TEST_MS,
);

test(
  'a parser that is ended while it starts leaves no compiled code behind',
  async () => {
    const { temporary, startNext } = stoppedParsers('killed');
    const { parser } = await startNext();
    await parser.kill();

    expect(readdirSync(temporary)).toEqual([]);
  },
  TEST_MS,
);

test(
  'a parser starts without compiled code if the temporary folder takes none',
  async () => {
    const parsers = newParsers({
      folder: path.join(root, 'alone'),
      newId: newIds(systemClock),
      confinement: async () => ({ ...STOPPED, prefix: [] }),
      cache: newCodeCache(path.join(root, 'no such folder')),
    });
    const parser = await parsers.start(LIMITS);
    const isUp = await parser.isUp(systemClock);
    await parser.kill();

    expect(isUp).toBe(true);
  },
  TEST_MS,
);

test('the first start removes what a killed service left behind, and nothing else', async () => {
  const temporary = path.join(root, 'left');
  const hourAgo = new Date(systemClock.now() - 3_600_000);
  for (const name of ['reelgate-parser-old', 'reelgate-parser-new', 'of-another-program']) {
    mkdirSync(path.join(temporary, name), { recursive: true });
    writeFileSync(path.join(temporary, name, 'code'), 'compiled');
    if (!name.endsWith('new')) utimesSync(path.join(temporary, name), hourAgo, hourAgo);
  }
  const folder = await newCodeCache(temporary).begin();
  await folder?.end(false);

  expect(readdirSync(temporary)).toEqual(['of-another-program', 'reelgate-parser-new']);
});

test.each([
  [
    'files',
    (folder: string) => {
      for (let file = 0; file <= 2000; file += 1) writeFileSync(path.join(folder, String(file)), '');
    },
  ],
  [
    'bytes',
    (folder: string) => {
      writeFileSync(path.join(folder, 'file'), Buffer.alloc(16 * MIB + 1));
    },
  ],
])('more %s than a parser compiles are not kept', async (_what, fill) => {
  const temporary = mkdtempSync(path.join(root, 'more-'));
  const cache = newCodeCache(temporary);
  const first = await cache.begin();
  fill(first!.path);
  await first!.end(true);
  const second = await cache.begin();

  expect(readdirSync(second!.path)).toEqual([]);
});
