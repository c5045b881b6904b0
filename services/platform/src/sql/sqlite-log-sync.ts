import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';

/** Writes committed transactions to the disk. */
export interface LogSync {
  /** Resolves when every earlier commit survives a power cut. */
  readonly sync: () => Promise<unknown>;
  /**
   * Copies the log into the database and empties it, so that no part of it stays on the disk. Resolves to false if a
   * reader or a writer is in the way for long. Without this function, the log stays until SQLite begins it anew.
   */
  readonly empty?: () => Promise<boolean>;
  readonly close: () => Promise<unknown>;
}

/** Opens the log of the SQLite database in a file. */
export type OpenLogSync = (file: string) => Promise<LogSync>;

/**
 * Syncs SQLite's write-ahead log outside the event loop. SQLite itself would block the program during the sync. The log
 * stays the same file while a connection is open. SQLite locks other files, so closing this one releases no lock.
 */
export async function openLogSync(file: string): Promise<LogSync> {
  const log = await open(`${file}-wal`, 'r');
  return { sync: () => log.datasync(), empty: () => emptyInThread(file), close: () => log.close() };
}

/** SQLite would block the program while it copies and syncs. */
async function emptyInThread(file: string): Promise<boolean> {
  const thread = new Worker(new URL('./sqlite-log-thread.ts', import.meta.url), { workerData: file, env: {} });
  thread.unref();
  // an error of the thread rejects
  const [isEmpty] = (await once(thread, 'message')) as [boolean];
  return isEmpty;
}

/** Syncs committed transactions to the disk, and reports whether they are on it. */
export interface Durability {
  /** Syncs every commit so far. */
  sync(): Promise<unknown>;
  /** Resolves when the last started sync has ended. After one failed sync it always rejects. */
  last(): Promise<unknown>;
  /** Empties the log; see `LogSync`. */
  empty(): Promise<boolean>;
  close(): Promise<unknown>;
}

export function newDurability(opening: Promise<LogSync>): Durability {
  let last: Promise<unknown> = opening;
  // the next caller of last() gets the error
  const remember = (sync: Promise<unknown>): Promise<unknown> => {
    last = sync;
    last.catch(() => undefined);
    return last;
  };
  void remember(opening);
  return {
    last: () => last,
    sync: () => remember(opening.then((log) => log.sync())),
    empty: () => opening.then((log) => log.empty?.() ?? true),
    close: () => opening.then((log) => log.close()),
  };
}
