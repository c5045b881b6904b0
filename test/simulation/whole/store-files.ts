import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** SQLite builds the index of a log anew. */
const INDEX = /-shm$/;

/** Lists the databases of a folder, with their logs. */
export function listStoreFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !INDEX.test(name))
    .sort();
}

/**
 * Copies the databases of a folder as they are at this moment. Between two events no transaction is half in a file, so
 * the copy is that of a kill at this moment, as the snapshot of `reelgate backup` is.
 */
export function copyStores(from: string, to: string): void {
  if (existsSync(to)) rmSync(to, { recursive: true });
  mkdirSync(to);
  for (const name of listStoreFiles(from)) copyFileSync(path.join(from, name), path.join(to, name));
}

/** Returns the rows of a copied database. */
export function readCopy(folder: string, name: string, text: string): readonly Readonly<Record<string, unknown>>[] {
  const copy = new DatabaseSync(path.join(folder, `${name}.sqlite`), { readOnly: true });
  try {
    return copy.prepare(text).all();
  } finally {
    copy.close();
  }
}
