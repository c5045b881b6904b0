import { mkdirSync } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { BlobStore } from './blob-store.ts';

const KEY = /^[a-z0-9][a-z0-9_-]{3,127}$/;
const FAN_OUT_CHARACTERS = 2;
const READ_CHUNK_BYTES = 256 * 1024;

/** A folder, fanned out by the first two characters of the key. */
export function openDiskBlobs(root: string): BlobStore {
  mkdirSync(root, { recursive: true });
  const nameOf = (key: string): string => {
    if (!KEY.test(key)) throw new Error(`not a blob key: ${key}`);
    return path.join(key.slice(0, FAN_OUT_CHARACTERS), key);
  };
  const pathOf = (key: string): string => path.join(root, nameOf(key));
  const sizeOf = (key: string): Promise<number | undefined> => orNothing(async () => (await stat(pathOf(key))).size);

  return {
    keep: async (key, file) => {
      const target = pathOf(key);
      const made = await mkdir(path.dirname(target), { recursive: true });
      await rename(file.path, target);
      await flushFolder(path.dirname(target));
      if (made !== undefined) await flushFolder(root);
    },
    sizeOf,
    open: (key, range) => orNothing(async () => (await open(pathOf(key), 'r')).createReadStream({ ...range, highWaterMark: READ_CHUNK_BYTES })),
    withFile: async (key, work) => ((await sizeOf(key)) === undefined ? undefined : work(pathOf(key))),
    fileOf: (key) => ({ root, name: nameOf(key) }),
    remove: (key) => rm(pathOf(key), { force: true }),
  };
}

/** A rename is durable when the folder is. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function orNothing<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
