import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { RunningServer } from './launcher.ts';
import { recordProcess } from './run-folder.ts';
import { unprivilegedUser } from './unprivileged.ts';

export interface ServerProcess {
  readonly program: string;
  readonly args: (port: number) => readonly string[];
  /** The folder that is removed when the server stops. */
  readonly folder: string;
  /** The text that the server prints when it is ready. A check of its port could reach another server. */
  readonly ready: RegExp;
  readonly url: (port: number) => string;
  readonly stopSignal?: NodeJS.Signals;
}

const PORTS_TRIED_MAX = 5;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;

/** Starts a server on a free port, or on another one if that port has been taken since. */
export async function startProcess(server: ServerProcess): Promise<RunningServer> {
  let last = '';
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const port = await freePort();
    const child = spawn(server.program, server.args(port), {
      cwd: server.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...unprivilegedUser(),
    });
    const { pid } = child;
    if (pid !== undefined) recordProcess(server.folder, pid);
    const failure = await failureToStart(child, server.ready);
    if (failure === undefined && pid !== undefined)
      return { url: server.url(port), pid, detach: () => detach(child), stop: stopper(child, server) };
    last = failure ?? 'it has no process';
    if (!/in use|bind/i.test(last)) break;
  }
  rmSync(server.folder, { recursive: true, force: true });
  throw new Error(`${server.program} did not start: ${last}`);
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** Resolves with undefined when the server is ready, or with its last output when it has ended. */
async function failureToStart(child: ChildProcess, ready: RegExp): Promise<string | undefined> {
  let output = '';
  return new Promise((resolve) => {
    const finish = (failure?: string): void => {
      clearTimeout(deadline);
      resolve(failure);
    };
    const deadline = setTimeout(() => {
      child.kill('SIGKILL');
      finish(`not ready after ${START_TIMEOUT_MS / 1000} s: ${output.slice(-1000)}`);
    }, START_TIMEOUT_MS);
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-10_000);
      if (ready.test(output)) finish();
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('error', (error) => finish(error.message));
    child.once('close', (status) => finish(`it ended with ${status ?? 'a signal'}: ${output.slice(-1000)}`));
  });
}

/** Lets this process end before the child. The output of the child is discarded from then on. */
function detach(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
  child.unref();
}

function stopper(child: ChildProcess, { folder, stopSignal = 'SIGTERM' }: ServerProcess): () => Promise<void> {
  const ended = once(child, 'close');
  return async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill(stopSignal);
    const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(deadline);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
