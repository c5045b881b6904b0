import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';

const OTHER_DISK: ReadonlySet<unknown> = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP']);

/** A file of a backup, with its path in the folder of the backup. */
export interface BackedUpFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Gives another name to a file with constant content, or copies it to another disk. Returns false if there is no file.
 */
export async function linkOrCopy(from: string, to: string): Promise<boolean> {
  await mkdir(path.dirname(to), { recursive: true });
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (readErrorCode(error) === 'EEXIST') return true;
    if (readErrorCode(error) === 'ENOENT') return false;
    if (!OTHER_DISK.has(readErrorCode(error))) throw error;
  }
  return copyWhole(from, to);
}

/** Copies a file. The copy gets its name when it is complete and on the disk. Returns false if there is no file. */
export async function copyWhole(from: string, to: string): Promise<boolean> {
  const unfinished = `${to}.part`;
  await mkdir(path.dirname(to), { recursive: true });
  try {
    await copyFile(from, unfinished, constants.COPYFILE_FICLONE);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return false;
    throw error;
  }
  await flush(unfinished);
  await rename(unfinished, to);
  return true;
}

export async function writeDurably(file: string, text: string): Promise<void> {
  const unfinished = `${file}.part`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  await flush(path.dirname(file));
}

/** The size and the digest of a file, under its path in a folder. */
export async function describeFile(folder: string, name: string): Promise<BackedUpFile> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path.join(folder, name)), hash);
  return { path: name, bytes: (await stat(path.join(folder, name))).size, sha256: hash.digest('hex') };
}

/** Returns undefined if there is no file. */
export async function readSize(file: string): Promise<number | undefined> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Returns the names in a folder. The list is empty without a folder. */
export async function listNames(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Flushes the folder and every folder in it, so that the names of their files are on the disk. */
export async function flushFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await flushFolders(path.join(folder, entry.name));
  await flush(folder);
}

/** Flushes a file or a folder to the disk. */
export async function flush(name: string): Promise<void> {
  const handle = await open(name, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

export async function remove(name: string): Promise<void> {
  await rm(name, { recursive: true, force: true });
}

function readErrorCode(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}
