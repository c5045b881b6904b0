import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { withTimeout } from '@reelgate/platform/clock';
import type { Sleeper } from '@reelgate/platform/clock';
import { isLongTest } from '../../run/long-tests.ts';
import { FAILURE_PREFIX } from './first-failure.ts';

/** The slowest folder takes some 20 s alone on a core. */
const TESTS_MS_MAX = 4 * 60_000;
/** A test takes at most a few seconds. One that takes this long waits for what never happens. */
const TEST_MS_MAX = 40_000;
const HEAP_MB_MAX = 2048;
const FLAGS = [
  '--experimental-vm-modules',
  '--wasm-wrapper-tiering-budget=1000000000',
  '--disable-warning=ExperimentalWarning',
];
/** The file as a reporter of Jest. */
const REPORTER = 'test/simulation/mutants/first-failure.ts';
const OUTPUT_KEPT_MAX = 100_000;

/** How some test files ended. */
export type TestEnd = { readonly end: 'passed' | 'timeout' } | { readonly end: 'failed'; readonly test: string };

/**
 * Lists the unit tests of a file in groups: first those that are named as the file is, then the others of its folder,
 * and of the nearest folder above it that has some, if its own has none. The long tests are left out.
 */
export function listUnitTests(root: string, file: string): readonly (readonly string[])[] {
  const name = path.basename(file, '.ts');
  const tests = listNearestTests(root, path.dirname(file));
  const isOwn = (test: string): boolean => new RegExp(`^${name}[.-]`).test(path.basename(test));
  return [tests.filter(isOwn), tests.filter((test) => !isOwn(test))].filter((group) => group.length > 0);
}

function listNearestTests(root: string, folder: string): readonly string[] {
  const tests = readdirSync(path.join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => path.posix.join(folder, name))
    .filter((test) => !isLongTest(test))
    .sort();
  return tests.length > 0 || path.basename(folder) === 'src' ? tests : listNearestTests(root, path.dirname(folder));
}

/** Runs test files in a copy of the repository, up to the first one that fails. */
export async function runUnitTests(
  folder: string,
  tests: readonly string[],
  { clock, kill }: { readonly clock: Sleeper; readonly kill: AbortSignal },
): Promise<TestEnd> {
  const { REELGATE_TEST_RUN_FOLDER: _ofAnotherRun, ...inherited } = process.env;
  const own = { NODE_OPTIONS: '', REELGATE_SEED: '1', NODE_COMPILE_CACHE: nameCompileCache(folder) };
  const words = [
    ...[...FLAGS, `--max-old-space-size=${HEAP_MB_MAX}`, path.join(folder, 'test/run/main.ts')],
    ...['--runInBand', '--bail', `--testTimeout=${TEST_MS_MAX}`, `--cacheDirectory=${path.join(folder, '.jest')}`],
    ...[`--reporters=${path.join(folder, REPORTER)}`, '--runTestsByPath', ...tests],
  ];
  return withTimeout(clock, { ms: TESTS_MS_MAX, caller: kill }, async (signal) => {
    // a group of its own, so that the servers of its tests end with it
    const child = spawn(process.execPath, words, {
      ...{ cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], detached: true, env: { ...inherited, ...own } },
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      said = (said + part).slice(-OUTPUT_KEPT_MAX);
    });
    const end = (): void => {
      endGroup(child.pid);
    };
    signal.addEventListener('abort', end);
    await once(child, 'close');
    signal.removeEventListener('abort', end);
    if (signal.aborted) return { end: 'timeout' };
    return child.exitCode === 0 ? { end: 'passed' } : { end: 'failed', test: readFailure(said) };
  });
}

/** Where the compiled code of a copy is: each process of a mutant finds all files there but one. */
export function nameCompileCache(folder: string): string {
  return path.join(folder, '.compiled');
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function readFailure(said: string): string {
  const line = said.split('\n').find((text) => text.startsWith(FAILURE_PREFIX));
  return line?.slice(FAILURE_PREFIX.length) ?? 'the tests end their process';
}
