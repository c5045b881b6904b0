import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import path from 'node:path';
import type { NewId } from '@reelgate/platform/ids';

const ROOM_BYTES = 64 * 1024;

/** A complete local file, flushed to the disk, without any reference to it yet. */
export interface ReceivedFile {
  readonly path: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** Removes the file, unless a blob store took it over. It can be repeated. */
  discard(): Promise<void>;
}

/** A file that is being written. */
export interface Draft {
  readonly bytes: number;
  /** Writes a whole source. Rejects with TooLarge as soon as it exceeds the limit. */
  append(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
  finish(): Promise<ReceivedFile>;
  discard(): Promise<void>;
}

/**
 * The folder for received bytes that are not yet probed. The next start removes the files that a crash leaves there.
 */
export interface IncomingFolder {
  begin(bytesMax: number): Promise<Draft>;
  /** Creates a file that `write` fills. Returns undefined if `write` returned false. */
  fill(write: (path: string) => Promise<boolean>): Promise<ReceivedFile | undefined>;
}

export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  readonly bytesMax: number;

  constructor(bytesMax: number) {
    super(`more than ${bytesMax} bytes`);
    this.bytesMax = bytesMax;
  }
}

/** The folder belongs to one process. It is on the disk of the blobs, so that a rename takes a file over. */
export function openIncoming(folder: string, newId: NewId): IncomingFolder {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { force: true });
  return {
    begin: (bytesMax) => beginDraft(path.join(folder, newId('in')), bytesMax),
    fill: (write) => fillFile(path.join(folder, newId('in')), write),
  };
}

async function fillFile(file: string, write: (path: string) => Promise<boolean>): Promise<ReceivedFile | undefined> {
  const discard = (): Promise<void> => removeFile(file);
  try {
    await (await open(file, 'wx', 0o600)).close();
    if (!(await write(file))) {
      await assertRoom(file);
      await discard();
      return undefined;
    }
    const handle = await open(file, 'r+');
    const hash = createHash('sha256');
    try {
      await handle.sync();
      for await (const chunk of handle.createReadStream({ autoClose: false })) hash.update(chunk as Uint8Array);
      const { size: bytes } = await handle.stat();
      return { path: file, bytes, sha256: hash.digest('hex'), discard };
    } finally {
      await handle.close();
    }
  } catch (error) {
    await discard();
    throw error;
  }
}

/** Rejects if the disk is full: then a failed write is not the fault of the file's content. */
async function assertRoom(file: string): Promise<void> {
  const handle = await open(file, 'a');
  try {
    await handle.appendFile(Buffer.alloc(ROOM_BYTES));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function beginDraft(file: string, bytesMax: number): Promise<Draft> {
  const handle = await open(file, 'wx', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  const discard = async (): Promise<void> => {
    try {
      await handle.close();
    } finally {
      await removeFile(file);
    }
  };
  return {
    get bytes() {
      return bytes;
    },
    append: async (source) => {
      for await (const chunk of source) {
        if (bytes + chunk.byteLength > bytesMax) throw new TooLarge(bytesMax);
        hash.update(chunk);
        await handle.appendFile(chunk);
        bytes += chunk.byteLength;
      }
    },
    finish: async () => {
      await handle.sync();
      await handle.close();
      return { path: file, bytes, sha256: hash.digest('hex'), discard: () => removeFile(file) };
    },
    discard,
  };
}

/** Takes one system call. `rm` takes two, because it removes folders too. */
async function removeFile(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
