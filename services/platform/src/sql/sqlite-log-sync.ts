import { open } from 'node:fs/promises';

/** Writes committed transactions to the disk. */
export interface LogSync {
  /** Resolves when every earlier commit survives a power cut. */
  readonly sync: () => Promise<unknown>;
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
  return { sync: () => log.datasync(), close: () => log.close() };
}

/** Syncs committed transactions to the disk, and reports whether they are on it. */
export interface Durability {
  /** Syncs every commit made so far. */
  sync(): Promise<unknown>;
  /** Resolves when the last started sync has ended. After one failed sync it always rejects. */
  last(): Promise<unknown>;
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
    close: () => opening.then((log) => log.close()),
  };
}
