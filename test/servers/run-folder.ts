import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isOpenToAll, unprivilegedUser } from './unprivileged.ts';

/*
 * One run of the tests has one folder. Each of its servers has a folder in it, with its data and its process id. The
 * next run can therefore clear a run that is over or was killed.
 */
const VARIABLE = 'REELGATE_TEST_RUN_FOLDER';
const PREFIX = 'reelgate-test-';
const OWNER_FILE = 'owner.pid';
const PROCESS_FILE = 'server.pid';

const temporaryFolder = (): string => (unprivilegedUser() === undefined || isOpenToAll(tmpdir()) ? tmpdir() : '/tmp');

/** Reports whether this process belongs to a run of the tests, not to a benchmark or a command. */
export function isTestRun(): boolean {
  return process.env[VARIABLE] !== undefined;
}

/** The folder of this run. Workers read it from the environment, which the global setup has filled. */
export function runFolder(): string {
  const known = process.env[VARIABLE];
  if (known !== undefined) return known;
  const folder = mkdtempSync(path.join(temporaryFolder(), PREFIX));
  chmodSync(folder, 0o755);
  writeFileSync(path.join(folder, OWNER_FILE), String(process.pid));
  process.env[VARIABLE] = folder;
  return folder;
}

/** An empty folder for one server, owned by the user that the server runs as. */
export function newServerFolder(name: string): string {
  const folder = mkdtempSync(path.join(runFolder(), `${name}-`));
  mkdirSync(path.join(folder, 'data'), { mode: 0o700 });
  const user = unprivilegedUser();
  if (user !== undefined) for (const owned of [folder, path.join(folder, 'data')]) chownSync(owned, user.uid, user.gid);
  return folder;
}

export function recordProcess(folder: string, pid: number): void {
  writeFileSync(path.join(folder, PROCESS_FILE), String(pid));
}

/** Ends the servers that a run has left, and removes its folder. */
export function clearRunFolder(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const server = path.join(folder, entry.name);
    const pid = entry.isDirectory() ? readPid(path.join(server, PROCESS_FILE)) : undefined;
    if (pid !== undefined && worksIn(pid, server)) process.kill(pid, 'SIGKILL');
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Clears the folders of this user's killed runs. */
export function clearAbandonedRuns(): void {
  const own = process.env[VARIABLE];
  for (const name of readdirSync(temporaryFolder()).filter((entry) => entry.startsWith(PREFIX))) {
    const folder = path.join(temporaryFolder(), name);
    const owner = readPid(path.join(folder, OWNER_FILE));
    if (folder !== own && owner !== undefined && isOurs(folder) && !isAlive(owner)) clearRunFolder(folder);
  }
}

/** Whether the folder still exists and belongs to this user. */
const isOurs = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.();

function readPid(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Whether the process is still the server. Another program may have its id by now, but works in another folder. */
function worksIn(pid: number, folder: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
  } catch {
    return false;
  }
}
