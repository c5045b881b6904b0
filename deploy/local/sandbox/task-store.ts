import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newToken } from './chance.ts';
import { logBytesMax, logPagesMax } from './limits.ts';
import type { Task } from './task.ts';

/** Where the facts of tasks outlive the process. */
export type TaskStore = {
  /** Every kept task, oldest first. */
  tasks(): readonly Task[];
  /** Adds the task, or replaces it in its place. */
  keep(task: Task): void;
  drop(id: string): void;
  /** The secret that signs result links, so that a link of before a restart still works after it. */
  linkSecret(): string;
  close(): void;
};

export function memoryTaskStore(): TaskStore {
  const secret = newToken();
  const nothing = (): void => undefined;
  return { tasks: () => [], keep: nothing, drop: nothing, linkSecret: () => secret, close: nothing };
}

const fileName = 'tasks.sqlite';
const tableVersion = 1;
const ownerOnly = 0o600;

/**
 * A file in the folder that only its owner may read. What it was told survives a kill of the process at once. A power
 * cut can take back the last moments, as nothing here waits for the disk.
 */
export function openTaskStore(folder: string): TaskStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, fileName);
  // SQLite gives its log the mode of the database
  closeSync(openSync(file, 'a', ownerOnly));
  chmodSync(file, ownerOnly);
  const database = opened(file);
  const keep = database.prepare(
    'INSERT INTO tasks (id, facts) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET facts = excluded.facts',
  );
  const drop = database.prepare('DELETE FROM tasks WHERE id = ?');
  return {
    tasks: () =>
      database
        .prepare('SELECT facts FROM tasks ORDER BY place')
        .all()
        .map(({ facts }) => JSON.parse(String(facts)) as Task),
    keep: (task) => {
      keep.run(task.id, JSON.stringify(task));
    },
    drop: (id) => {
      drop.run(id);
    },
    linkSecret: () => {
      database.prepare("INSERT INTO secrets (name, value) VALUES ('links', ?) ON CONFLICT DO NOTHING").run(newToken());
      return String(database.prepare("SELECT value FROM secrets WHERE name = 'links'").get()?.['value']);
    },
    close: () => {
      database.close();
    },
  };
}

function opened(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;
       PRAGMA wal_autocheckpoint = ${logPagesMax}; PRAGMA journal_size_limit = ${logBytesMax};`,
    );
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
    if (version !== 0 && version !== tableVersion) throw new Error('it was written by another version of the sandbox');
    database.exec(
      `BEGIN IMMEDIATE;
       CREATE TABLE IF NOT EXISTS tasks (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, facts TEXT NOT NULL);
       CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value TEXT NOT NULL);
       PRAGMA user_version = ${tableVersion};
       COMMIT`,
    );
    return database;
  } catch (fault) {
    database.close();
    throw new Error(`${file}: the sandbox cannot read its tasks; without this file it starts anew, with no tasks`, {
      cause: fault,
    });
  }
}
