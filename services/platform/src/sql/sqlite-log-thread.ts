import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

/** Writers wait for this thread, and it for them. */
const BUSY_MS = 1000;

/**
 * Copies the log of the database in a file into it and empties the log. Most of it is copied while writers go on, so that
 * they wait for the last pages alone.
 */
const database = new DatabaseSync(workerData as string, { timeout: BUSY_MS });
database.exec('PRAGMA wal_checkpoint(PASSIVE)');
const { busy } = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get() as { readonly busy: number };
database.close();
parentPort?.postMessage(busy === 0);
