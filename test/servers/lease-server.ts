import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Launcher, RunningServer } from './launcher.ts';
import { runFolder } from './run-folder.ts';

/** A running server, as its file in the folder of the run names it. */
interface LeasedServer {
  readonly url: string;
  readonly pid: number;
}

const END_TIMEOUT_MS = 10_000;
const END_CHECK_MS = 20;

/*
 * A server that takes long to start serves one test file after another, and never two at once. Each server has a file
 * with its address, in the folder `free` or `leased`. A worker takes a server by moving its file from `free` to `leased`.
 */
const folderOf = (place: 'free' | 'leased'): string => {
  const folder = path.join(runFolder(), 'leases', place);
  mkdirSync(folder, { recursive: true });
  return folder;
};

/** Leases a free server of this run, emptied, or starts one. `stop` gives it back. */
export async function leaseServer(launcher: Launcher): Promise<RunningServer | undefined> {
  const name = (await takeFree(launcher)) ?? (await startLeased(launcher));
  if (name === undefined) return undefined;
  const server = readServer(path.join(folderOf('leased'), name));
  let isLeased = true;
  return {
    ...server,
    detach: () => undefined,
    stop: async () => {
      if (isLeased) move(name, 'leased', 'free');
      isLeased = false;
    },
  };
}

/** A server that cannot be emptied stays leased, and ends with the run. */
async function takeFree({ name, empty }: Launcher): Promise<string | undefined> {
  const free = readdirSync(folderOf('free')).filter((file) => file.startsWith(`${name}-`));
  for (const file of free) {
    if (!move(file, 'free', 'leased')) continue;
    try {
      await empty?.(readServer(path.join(folderOf('leased'), file)).url);
      return file;
    } catch (error) {
      process.stderr.write(`a server of the tests cannot be emptied: ${String(error)}\n`);
    }
  }
  return undefined;
}

async function startLeased(launcher: Launcher): Promise<string | undefined> {
  const server = await launcher.start();
  if (server === undefined) return undefined;
  server.detach();
  const { url, pid } = server;
  const name = `${launcher.name}-${pid}`;
  writeFileSync(path.join(folderOf('leased'), name), JSON.stringify({ url, pid } satisfies LeasedServer));
  return name;
}

/** Returns false if another worker has moved it. */
function move(name: string, from: 'free' | 'leased', to: 'free' | 'leased'): boolean {
  try {
    renameSync(path.join(folderOf(from), name), path.join(folderOf(to), name));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function readServer(file: string): LeasedServer {
  return JSON.parse(readFileSync(file, 'utf8')) as LeasedServer;
}

/** Ends every server that was leased in this run, without waiting for what it would write. */
export async function endLeasedServers(): Promise<void> {
  const names = (['free', 'leased'] as const).flatMap((place) => readdirSync(folderOf(place)));
  await Promise.all(names.map((name) => endServer(readPid(name))));
}

/** The file of a worker that was killed while it wrote may be cut off, but its name is whole. */
function readPid(name: string): number {
  return Number(name.slice(name.lastIndexOf('-') + 1));
}

async function endServer(pid: number): Promise<void> {
  const deadline = Date.now() + END_TIMEOUT_MS;
  for (let signal: NodeJS.Signals | 0 = 'SIGQUIT'; Date.now() < deadline; signal = 0) {
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, END_CHECK_MS);
    });
  }
}
