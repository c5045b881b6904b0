import { mkdirSync } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { FAN_OUT_CHARACTERS, blobPath } from './blob-folder.ts';
import { checkedKey } from './blob-key.ts';
import type { BlobStore, StoredBlob } from './blob-store.ts';
import { filePieces } from './file-pieces.ts';

/** Stores blobs in a folder with a subfolder for each two first characters of a key. */
export function openDiskBlobs(root: string): BlobStore {
  mkdirSync(root, { recursive: true });
  const pathOf = (key: string): string => path.join(root, blobPath(checkedKey(key)));
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
    open: (key, range) => orNothing(async () => (await open(pathOf(key), 'r')).createReadStream({ ...range })),
    pieces: (key, range) => orNothing(async () => filePieces(await open(pathOf(key), 'r'), range)),
    withFile: async (key, work) => ((await sizeOf(key)) === undefined ? undefined : work(pathOf(key))),
    linkTo: async () => undefined,
    list: (after, limit) => listFolder(root, after, limit),
    remove: (key) => rm(pathOf(key), { force: true }),
    check: () => access(root),
  };
}

async function listFolder(root: string, after: string, limit: number): Promise<readonly StoredBlob[]> {
  const found: StoredBlob[] = [];
  const folders = (await readdir(root))
    .filter((name) => name.length === FAN_OUT_CHARACTERS && name >= after.slice(0, FAN_OUT_CHARACTERS))
    .sort();
  for (const folder of folders) {
    for (const key of (await readdir(path.join(root, folder))).filter((name) => name > after).sort()) {
      if (found.length === limit) return found;
      const bytes = await orNothing(async () => (await stat(path.join(root, folder, key))).size);
      if (bytes !== undefined) found.push({ key, bytes });
    }
  }
  return found;
}

/** A rename is durable only when its folder is flushed. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
