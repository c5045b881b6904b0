import { DatabaseSync } from 'node:sqlite';

/** SQLite's code of a lock that another process has. */
const BUSY = 5;

/** The lock of a file, or the reason why this process does not have it. */
export type FileLock = { readonly unlock: () => void } | { readonly isTaken: boolean; readonly error: unknown };

/**
 * Locks a file until the process ends in any way. It is a lock of the operating system, which does not outlast a crash.
 * SQLite asks for it, because Node cannot. The file stays empty.
 */
export function lockFile(file: string): FileLock {
  const lock = new DatabaseSync(file);
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return {
      unlock: () => lock.close(),
    };
  } catch (error) {
    lock.close();
    return { isTaken: (error as { readonly errcode?: unknown }).errcode === BUSY, error };
  }
}
