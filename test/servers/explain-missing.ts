import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { installDebianPackages } from './debian-packages.ts';
import { isTestRun, runFolder } from './run-folder.ts';

/** Any value of this variable keeps the tests from installing packages. */
const OPT_OUT = 'REELGATE_TEST_NO_INSTALL';
const PAUSE_MS = 100;
/** More than `apt-get` takes for one package. */
const WAIT_MS_MAX = 8 * 60_000;

/**
 * Returns why a program cannot run on this machine; undefined if it can. In a test run its Debian package is installed
 * first, once for all workers, so that a run installs only what its tests ask for.
 */
export function explainMissing(
  program: string,
  debianPackage: string,
  find: () => string | undefined,
): string | undefined {
  if (find() !== undefined) return undefined;
  const failure = isTestRun() ? installOnce(debianPackage) : '';
  if (find() !== undefined) return undefined;
  return `no ${program} here (Debian: apt-get install ${debianPackage})${failure === '' ? '' : `; ${failure}`}`;
}

/** Returns why the package is not installed; empty if it is. The other workers wait for the one that installs. */
function installOnce(debianPackage: string): string {
  if (process.env[OPT_OUT] !== undefined) return `${OPT_OUT} is set`;
  const outcome = path.join(runFolder(), `${debianPackage}.installed`);
  const lock = path.join(runFolder(), 'installing');
  for (const until = performance.now() + WAIT_MS_MAX; !existsSync(outcome) && performance.now() < until;) {
    if (!takeLock(lock)) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
      continue;
    }
    try {
      if (!existsSync(outcome)) installNow(debianPackage, outcome);
    } finally {
      rmdirSync(lock);
    }
  }
  return existsSync(outcome) ? readFileSync(outcome, 'utf8') : 'another worker still installs packages';
}

function installNow(debianPackage: string, outcome: string): void {
  const failure = installDebianPackages([debianPackage]) ?? '';
  writeFileSync(outcome, failure);
  if (failure === '') process.stderr.write(`installed for the tests: ${debianPackage}\n`);
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
