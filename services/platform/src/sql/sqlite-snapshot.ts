import { DatabaseSync, backup } from 'node:sqlite';
import type { Sleeper } from '../clock.ts';
import type { SqlRow } from './sql.ts';
import { StoreUnavailable } from './sql.ts';
import { sqliteFault } from './sqlite-faults.ts';

/** Shorter than a writer of another process waits, so that two that wait for each other do not fail. */
const LOCK_MS_MAX = 250;
const TRIES_MAX = 40;
const RETRY_MS = 100;
/** A step of this size blocks this process for milliseconds. */
const PAGES_PER_STEP = 2000;

/** Several database files as they were at one moment. Their programs go on writing. */
export interface SqliteSnapshot {
  read<R extends SqlRow>(file: string, text: string): readonly R[];
  copy(file: string, target: string): Promise<void>;
  close(): void;
}

/**
 * Takes a snapshot of all files at the same moment: no transaction of any of them commits while the snapshot is taken,
 * as if the programs had been killed then. They wait for some milliseconds. While the snapshot is open, their
 * write-ahead logs grow.
 */
export async function snapshotSqlite(files: readonly string[], clock: Sleeper): Promise<SqliteSnapshot> {
  for (let tries = 1; ; tries += 1) {
    try {
      return takeSnapshot(files);
    } catch (error) {
      const fault = sqliteFault(error);
      if (!(fault instanceof StoreUnavailable) || tries === TRIES_MAX) throw fault;
      await clock.sleep(RETRY_MS);
    }
  }
}

function takeSnapshot(files: readonly string[]): SqliteSnapshot {
  const writers: DatabaseSync[] = [];
  const readers = new Map<string, DatabaseSync>();
  try {
    for (const file of files) {
      const writer = new DatabaseSync(file, { timeout: LOCK_MS_MAX });
      writers.push(writer);
      writer.exec('BEGIN IMMEDIATE');
    }
    for (const file of files) {
      const reader = new DatabaseSync(file, { readOnly: true, timeout: LOCK_MS_MAX });
      readers.set(file, reader);
      // the first read fixes the snapshot of the transaction
      reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    }
    return newSnapshot(readers);
  } catch (error) {
    closeAll(readers.values());
    throw error;
  } finally {
    closeAll(writers);
  }
}

function newSnapshot(readers: ReadonlyMap<string, DatabaseSync>): SqliteSnapshot {
  const findReader = (file: string): DatabaseSync => {
    const reader = readers.get(file);
    if (reader === undefined) throw new Error(`${file} is no file of the snapshot`);
    return reader;
  };
  return {
    read: <R extends SqlRow>(file: string, text: string) => findReader(file).prepare(text).all() as R[],
    copy: async (file, target) => {
      await backup(findReader(file), target, { rate: PAGES_PER_STEP });
    },
    close: () => closeAll(readers.values()),
  };
}

/** A connection that is closed rolls its transaction back. */
function closeAll(databases: Iterable<DatabaseSync>): void {
  for (const database of databases) database.close();
}
