import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { findProgram } from './find-program.ts';

const UPDATE_TIMEOUT_MS = 2 * 60_000;
const INSTALL_TIMEOUT_MS = 5 * 60_000;
/** Debian's packages start their servers as services unless this file forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';
const NOTHING_MAY_START = '#!/bin/sh\nexit 101\n';

/** Installs Debian packages without starting their servers. Returns the reason if it fails. */
export function installDebianPackages(names: readonly string[]): string | undefined {
  if (process.getuid?.() !== 0) return 'only root may install packages';
  if (findProgram('apt-get') === undefined) return 'there is no apt-get';
  const ownPolicy = !existsSync(POLICY);
  if (ownPolicy) forbidServices();
  try {
    // If the list cannot be refreshed, the old list may still work.
    const noList = aptGet(['update'], UPDATE_TIMEOUT_MS);
    const failure = aptGet(['install', '-y', '--no-install-recommends', ...names], INSTALL_TIMEOUT_MS);
    return failure === undefined ? undefined : [noList, failure].filter((why) => why !== undefined).join('; ');
  } finally {
    if (ownPolicy) rmSync(POLICY, { force: true });
  }
}

/** As a command: node test/servers/debian-packages.ts NAME… */
if (import.meta.main) {
  const failure = installDebianPackages(process.argv.slice(2));
  console.log(failure === undefined ? 'installed, or there before' : `not installed: ${failure}`);
}

function forbidServices(): void {
  writeFileSync(POLICY, NOTHING_MAY_START);
  chmodSync(POLICY, 0o755);
}

function aptGet(args: readonly string[], timeout: number): string | undefined {
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=60', '-o', 'Acquire::Retries=2', ...args];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const { status, error, stdout, stderr } = spawnSync('apt-get', options, {
    env,
    timeout,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status === 0) return undefined;
  const words = `${stdout}${stderr}`.trim().split('\n').slice(-3).join(' / ');
  return `apt-get ${args[0] ?? ''} failed (${error?.message ?? `exit ${status ?? '?'}`}): ${words}`;
}
