import { lstat, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

/** Far more than the code of the parsers compiles to. */
const FILES_MAX = 2000;
const BYTES_MAX = 16 * 1024 ** 2;
const PREFIX = 'reelgate-parser-';
/** Several times as long as a parser may take to start. */
const LEFT_MS = 120_000;

/** The compiled code of the parsers, by its path in Node's cache. */
type CompiledCode = ReadonlyMap<string, Buffer>;

/**
 * Stores the code that the first parser compiled, so that the next ones start in half the time. It is read before that
 * parser gets its first file, and stays in the memory of this process. Each later parser gets its own copy. So no
 * parser can write code that another process executes.
 */
export interface CodeCache {
  /**
   * Creates a folder for a process that starts. Returns undefined if the temporary folder has no room. Then the process
   * only compiles.
   */
  begin(): Promise<CodeFolder | undefined>;
}

/** The folder of the compiled code of one process, for the time of its start. */
export interface CodeFolder {
  readonly path: string;
  /**
   * Removes the folder. `isLoaded` means that the process has loaded its code and has not received a file yet. A
   * process removes its copy itself before that, and a process without a copy has left its compiled code here. It never
   * rejects.
   */
  end(isLoaded: boolean): Promise<void>;
}

/** The folders are in the system's temporary folder, because the disk of the media files can be full. */
export function newCodeCache(root: string = os.tmpdir()): CodeCache {
  let compiled: CompiledCode = new Map();
  let isSwept = false;
  return {
    begin: async () => {
      const folder = await mkdtemp(path.join(root, PREFIX)).catch(() => undefined);
      if (folder === undefined) return undefined;
      // a folder that cannot be removed now is removed after another start
      if (!isSwept) await removeLeft(root, folder).catch(() => undefined);
      isSwept = true;
      const remove = (): Promise<void> => rm(folder, { recursive: true, force: true }).catch(() => undefined);
      try {
        await copyTo(folder, compiled);
      } catch {
        await remove();
        return undefined;
      }
      return {
        path: folder,
        end: async (isLoaded) => {
          if (isLoaded && compiled.size === 0)
            compiled = await readCompiled(folder).catch(() => new Map<string, Buffer>());
          await remove();
        },
      };
    },
  };
}

/**
 * Removes the folders of this user that a killed service left behind: those older than `newest` by more than any start
 * takes. Another service on this machine keeps its own.
 */
async function removeLeft(root: string, newest: string): Promise<void> {
  const { mtimeMs, uid } = await lstat(newest);
  for (const name of await readdir(root)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = path.join(root, name);
    const found = await lstat(folder).catch(() => undefined);
    if (found?.isDirectory() === true && found.uid === uid && mtimeMs - found.mtimeMs > LEFT_MS)
      await rm(folder, { recursive: true, force: true });
  }
}

async function copyTo(folder: string, compiled: CompiledCode): Promise<void> {
  const files = [...compiled].map(([name, bytes]) => ({ file: path.join(folder, name), bytes }));
  for (const each of new Set(files.map(({ file }) => path.dirname(file)))) await mkdir(each, { recursive: true });
  await Promise.all(files.map(({ file, bytes }) => writeFile(file, bytes)));
}

/** Nothing, if there is more than a parser compiles. */
async function readCompiled(folder: string): Promise<CompiledCode> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  if (files.length > FILES_MAX) return new Map();
  const compiled = new Map<string, Buffer>();
  let bytes = 0;
  for (const file of files) {
    const content = await readFile(file);
    bytes += content.length;
    if (bytes > BYTES_MAX) return new Map();
    compiled.set(path.relative(folder, file), content);
  }
  return compiled;
}
