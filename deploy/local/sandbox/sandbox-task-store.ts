import { chmod, mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import type { Sql } from '@reelgate/platform/sql/sql';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import { newToken } from './random-ids.ts';
import type { Task } from './task-life.ts';

/** Keeps the facts of tasks beyond the life of the process. Writes take effect in the order of their calls. */
export type TaskStore = {
  /** The tasks that earlier processes kept, oldest first. */
  readonly tasks: readonly Task[];
  /** The secret that signs result links, so that a link of before a restart still works after it. */
  readonly linkSecret: string;
  /** Resolves when the task survives even a power cut. */
  add(task: Task): Promise<void>;
  /** Resolves when the change survives a kill of the process. */
  change(task: Task): Promise<void>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
};

export function memoryTaskStore(): TaskStore {
  const nothing = (): Promise<void> => Promise.resolve();
  return { tasks: [], linkSecret: newToken(), add: nothing, change: nothing, remove: nothing, close: nothing };
}

const fileName = 'tasks.sqlite';
const tableVersion = 1;
const ownerOnly = 0o600;

/** A file in the folder that only its owner may read. */
export async function openTaskStore(folder: string): Promise<TaskStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, fileName);
  // SQLite gives its log the mode of the database
  await (await open(file, 'a', ownerOnly)).close();
  await chmod(file, ownerOnly);
  let sql: Sql | undefined;
  try {
    sql = openSqlite(file);
    return await storeIn(sql);
  } catch (fault) {
    await sql?.close();
    throw new Error(`${file}: the sandbox cannot read its tasks; without this file it starts anew, with no tasks`, {
      cause: fault,
    });
  }
}

async function storeIn(sql: Sql): Promise<TaskStore> {
  const { rows, linkSecret } = await sql.transaction(async (query) => {
    await query('CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL)');
    await query(
      'CREATE TABLE IF NOT EXISTS tasks (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, facts TEXT NOT NULL)',
    );
    const setting = async (name: string, first: string): Promise<string> => {
      await query('INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [name, first]);
      const [row] = await query<{ value: string }>('SELECT value FROM settings WHERE name = $1', [name]);
      return row?.value ?? first;
    };
    if ((await setting('version', String(tableVersion))) !== String(tableVersion))
      throw new Error('the file was written by another version of the sandbox');
    return {
      rows: await query<{ facts: string }>('SELECT facts FROM tasks ORDER BY place'),
      linkSecret: await setting('link_secret', newToken()),
    };
  });
  return {
    tasks: rows.map(({ facts }) => JSON.parse(facts) as Task),
    linkSecret,
    add: async (task) => {
      await sql.write('INSERT INTO tasks (id, facts) VALUES ($1, $2)', [task.id, JSON.stringify(task)]);
    },
    change: async (task) => {
      const values = [JSON.stringify(task), task.id];
      await sql.commitUnsynced((query) => query('UPDATE tasks SET facts = $1 WHERE id = $2', values));
    },
    remove: async (id) => {
      await sql.commitUnsynced((query) => query('DELETE FROM tasks WHERE id = $1', [id]));
    },
    close: () => sql.close(),
  };
}
