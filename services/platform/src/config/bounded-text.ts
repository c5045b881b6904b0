import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';

export interface BoundedText {
  readonly text: string;
  /** The `fileVersion` of what was read. */
  readonly version: string;
}

/** Reads a regular file of at most `bytesMax` bytes in UTF-8. Throws an Error that says why it cannot. */
export function readBoundedText(file: string, bytesMax: number): BoundedText {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor, { bigint: true });
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > BigInt(bytesMax)) throw new Error(`it is larger than ${bytesMax} bytes`);
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
    return { text, version: toVersion(stats) };
  } finally {
    closeSync(descriptor);
  }
}

/** Another text for each state of the file: its inode changes when it is replaced, its times when it is written. */
export function fileVersion(file: string): string {
  try {
    return toVersion(statSync(file, { bigint: true }));
  } catch (error) {
    return readErrorCode(error);
  }
}

/** The code of a fault of the file system, or the message of another error. */
export function readErrorCode(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code ?? (error instanceof Error ? error.message : String(error));
}

function toVersion({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':');
}
