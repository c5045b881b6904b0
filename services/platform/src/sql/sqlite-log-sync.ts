import { open } from 'node:fs/promises';

/** Brings what was committed to the disk. */
export interface LogSync {
  /** Resolves when every commit that was made before it survives a power cut. */
  readonly sync: () => Promise<unknown>;
  readonly close: () => Promise<unknown>;
}

/**
 * Syncs SQLite's write-ahead log beside the event loop, where SQLite itself would stop the program for as long as the disk takes. The log
 * stays the same file for as long as a connection is open, and SQLite's locks are on other files, so that closing this one frees none.
 */
export async function openLogSync(file: string): Promise<LogSync> {
  const log = await open(`${file}-wal`, 'r');
  return { sync: () => log.datasync(), close: () => log.close() };
}

/** How far the disk has what was committed. */
export interface Durability {
  /** Syncs what was committed by now. */
  sync(): Promise<unknown>;
  /** Resolves when the last sync that was begun has ended; rejects for good once one has failed. */
  last(): Promise<unknown>;
  close(): Promise<unknown>;
}

export function durabilityOf(opening: Promise<LogSync>): Durability {
  let last: Promise<unknown> = opening;
  // whoever asks next is told
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
