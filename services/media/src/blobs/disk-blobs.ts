import { closeSync, fsync, mkdirSync, openSync } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { FAN_OUT_CHARACTERS, blobPath } from './blob-folder.ts';
import type { BlobStore, ByteRange, StoredBlob } from './blob-store.ts';
import { checkKey } from './blob-store.ts';

const PIECE_BYTES = 256 * 1024;
/** Buffers for the next reader: used memory is many times cheaper than new memory. */
const SPARES_MAX = 64;
const spares: Buffer[] = [];

/** Stores blobs in a folder with a subfolder for each two first characters. `flush` writes a folder to the disk. */
export function openDiskBlobs(root: string, flush: (folder: string) => Promise<void> = flushFolder): BlobStore {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const pathOf = (key: string): string => path.join(root, blobPath(checkKey(key)));
  /** The subfolders that this process has created or found, and flushed: at most one for each two first characters. */
  const known = new Set<string>();
  const prepare = async (folder: string): Promise<void> => {
    if (known.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await flush(root);
    known.add(folder);
  };
  const sizeOf = (key: string): Promise<number | undefined> => orNothing(async () => (await stat(pathOf(key))).size);

  return {
    keep: async (key, file) => {
      const target = pathOf(key);
      const folder = path.dirname(target);
      await prepare(folder);
      await rename(file.path, target).catch(async (error: unknown) => {
        // a folder that was removed is created again
        if (!isAbsent(error)) throw error;
        known.delete(folder);
        await prepare(folder);
        await rename(file.path, target);
      });
      await flush(folder);
    },
    has: async (key, bytes) => {
      if ((await sizeOf(key)) !== bytes) return false;
      // another upload may have renamed its file just now, and not have flushed the folder yet
      await flush(path.dirname(pathOf(key)));
      return true;
    },
    findSize: sizeOf,
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

/**
 * Flushes a folder, without which a rename is not durable. The folder is opened and closed synchronously: the kernel
 * has it in memory since the rename, and through the thread pool each of the two calls took longer.
 */
async function flushFolder(folder: string): Promise<void> {
  const opened = openSync(folder, 'r');
  try {
    await promisify(fsync)(opened);
  } finally {
    closeSync(opened);
  }
}

async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

const isAbsent = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Reads a file into two alternating buffers: one is sent while the other is filled. It closes the file at the end. */
export async function* filePieces(
  file: FileHandle,
  { start, end }: ByteRange = { start: 0, end: Number.MAX_SAFE_INTEGER },
): AsyncGenerator<Uint8Array> {
  const buffers = [takeBuffer(), takeBuffer()] as const;
  let at = start;
  const fill = async (buffer: Buffer): Promise<Uint8Array> => {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, end + 1 - at), at);
    at += bytesRead;
    return buffer.subarray(0, bytesRead);
  };
  let next = fill(buffers[0]);
  let isOver = false;
  try {
    for (let round = 1; ; round += 1) {
      const piece = await next;
      isOver = piece.byteLength === 0;
      if (isOver) return;
      next = at > end ? Promise.resolve(buffers[0].subarray(0, 0)) : fill(buffers[round % 2] ?? buffers[0]);
      yield piece;
    }
  } finally {
    // a running read still writes into its buffer
    await next.catch(() => undefined);
    // a reader that left early may still hold a piece
    if (isOver && spares.length < SPARES_MAX) spares.push(...buffers);
    await file.close();
  }
}

function takeBuffer(): Buffer {
  return spares.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
}
