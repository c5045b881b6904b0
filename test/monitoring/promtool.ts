import { spawnSync } from 'node:child_process';
import { findProgram } from '../servers/find-program.ts';

const RUN_TIMEOUT_MS = 120_000;

/** Why promtool cannot be used; undefined: it can. */
export const missingPromtool = (): string | undefined =>
  findProgram('promtool') === undefined ? 'no promtool here (Debian: apt-get install prometheus)' : undefined;

/** Runs promtool. What it says, without the paths of its files; undefined: it found no fault. */
export function promtoolFaults(args: readonly string[], folder: string): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(findProgram('promtool') ?? 'promtool', args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: RUN_TIMEOUT_MS,
  });
  if (error !== undefined) throw error;
  return status === 0 ? undefined : `exit ${String(status)}: ${stdout}${stderr}`;
}
