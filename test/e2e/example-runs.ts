import { execFile } from 'node:child_process';
import path from 'node:path';
import { callerKey, KEYS } from '../harness/test-config.ts';
import type { Program } from '../harness/program.ts';

const ROOT = path.join(import.meta.dirname, '../..');
export const EXAMPLES = path.join(ROOT, 'deploy/examples');
export const PROTO = path.join(ROOT, 'proto');
export const MODULES = path.join(ROOT, 'node_modules');
export const PROGRAMS = path.join(MODULES, '.bin');
/** Includes the build of an example. */
export const RUN_TIMEOUT_MS = 240_000;
const OUTPUT_BYTES_MAX = 1024 * 1024;

export interface Run {
  readonly cwd: string;
  /** A folder that comes first in the PATH. */
  readonly path?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** What a person types. */
  readonly input?: string;
}

/** What the examples read of their environment, for this program. */
export const environmentFor = (program: Program): Readonly<Record<string, string>> => ({
  REELGATE_URL: program.base,
  REELGATE_API_KEY: KEYS.demo,
  REELGATE_CALLER_KEY: callerKey('pipeline'),
  REELGATE_TASKS: program.config.tasks.listen,
  REELGATE_BILLING: program.config.billing.listen,
  REELGATE_TASKS_HTTP: program.config.tasks.http,
  REELGATE_BILLING_HTTP: program.config.billing.http,
  REELGATE_PROTO: PROTO,
});

/** The output of a command. A command with another exit code than 0 throws an error with its output. */
export function runExample(
  file: string,
  args: readonly string[],
  { cwd, path: front, environment = {}, input = '' }: Run,
): Promise<string> {
  const env = {
    ...process.env,
    NODE_OPTIONS: '',
    PATH: [front, process.env['PATH']].filter((part) => part !== undefined).join(path.delimiter),
    ...environment,
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      file,
      args,
      { cwd, env, timeout: RUN_TIMEOUT_MS, maxBuffer: OUTPUT_BYTES_MAX },
      (error, out, err) => {
        if (error === null) resolve(out);
        else reject(new Error(`${path.basename(file)} ended with ${String(error.code)}: ${out}${err}`));
      },
    );
    child.stdin?.end(input);
  });
}
