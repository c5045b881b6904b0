import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import type { WriteStream } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../servers/find-program.ts';
import type { Namespace } from './network.ts';

const FIRST_PROCESS_TIMEOUT_MS = 60_000;
const KEPT_BYTES = 20_000;

/**
 * A program that makes a process namespace and runs a container in it as its only child. `onMachine` gives one with the
 * file system of the machine, `inRoot` of test/image one with that of the image.
 */
export interface ContainerSpec {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface OnMachine {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Its processes come after those of a lower number. Default: 0, as the clients have. */
  readonly niceness?: number;
}

/** A container with the file system of the machine. */
export function onMachine({ command, env, cwd, user, niceness = 0 }: OnMachine): ContainerSpec {
  const ids = user === undefined ? [] : ['--setgid', String(user.gid), '--setuid', String(user.uid)];
  const isolated = ['--pid', '--fork', '--kill-child=SIGKILL', '--mount-proc'];
  const inner = ids.length === 0 ? [] : [full('unshare'), ...ids, '--'];
  const inFolder = [full('nice'), '-n', String(niceness), full('env'), `--chdir=${cwd}`, ...inner, ...command];
  return { file: full('unshare'), args: [...isolated, '--', ...inFolder], env };
}

/** The environment of a container may lack the machine's PATH. */
const full = (program: string): string => findProgram(program) ?? program;

/** A running container: one process tree in a process namespace of its own. */
export interface Container {
  readonly exited: boolean;
  /** Resolves with the exit code or the signal. */
  readonly ended: Promise<string>;
  /** Signals the first process of the container, or does nothing if it has ended. */
  kill(signal: NodeJS.Signals): void;
  /** The newest output. */
  output(): string;
}

/** Starts a container in a network namespace. Its output goes to `logFile` too. It dies with this process. */
export async function startContainer(spec: ContainerSpec, namespace: Namespace, logFile: string): Promise<Container> {
  const { file, args, env } = spec;
  const inside = ['--pdeathsig', 'KILL', '--', full('ip'), 'netns', 'exec', namespace.name, full(file), ...args];
  const child = spawn(full('setpriv'), inside, { cwd: '/', env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const log = createWriteStream(logFile, { flags: 'a' });
  const output = outputOf(child, log);
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? code));
  const first = await firstProcess(child);
  const container: Container = {
    get exited() {
      return child.exitCode !== null || child.signalCode !== null;
    },
    ended,
    kill: (signal) => {
      if (container.exited || first === undefined) return;
      try {
        process.kill(first, signal);
      } catch {
        // It has ended, and its parent learns of it in a moment.
      }
    },
    output,
  };
  return container;
}

function outputOf(child: ChildProcess, log: WriteStream): () => string {
  let kept = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => {
      log.write(part);
      kept = (kept + part.toString()).slice(-KEPT_BYTES);
    });
  child.once('close', () => log.end());
  return () => kept;
}

/** The id of the container's first process, seen from the machine. Undefined if it has ended before. */
async function firstProcess(child: ChildProcess): Promise<number | undefined> {
  const deadline = performance.now() + FIRST_PROCESS_TIMEOUT_MS;
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const [first] = childrenOf(child.pid);
    if (first !== undefined) return first;
    if (performance.now() > deadline) throw new Error('the container did not start');
    await wait(5);
  }
  return undefined;
}

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
