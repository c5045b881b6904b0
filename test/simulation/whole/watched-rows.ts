import { DatabaseSync } from 'node:sqlite';
import type { TouchedRow } from './server-locks.ts';

/** A table whose rows are watched. */
export interface WatchedTable {
  readonly number: number;
  readonly name: string;
  readonly primaryKey: readonly string[];
}

export interface RowWatcher {
  /** A statement touched a row. */
  readonly onTouch: (touched: TouchedRow) => void;
  /** Reports whether a statement may change the row. It leaves out the others. */
  readonly mayTouch: (row: string) => boolean;
  /** Reports whether another transaction holds the row. */
  readonly isLocked: (row: string) => boolean;
}

/** An index of a table that no two rows share an entry of. */
interface UniqueIndex {
  readonly columns: readonly string[];
  /** The condition of the rows that are in it. Undefined: all rows without a null among the columns. */
  readonly condition: string | undefined;
}

type Value = string | number | bigint | null | Uint8Array;

/** The product opens its stores by other ways, whose statements the simulated disk watches. */
const { exec } = DatabaseSync.prototype;

/** The bytes between two values of a key. */
const BETWEEN = '\u0000';
const PARTIAL = / WHERE (.*)$/s;
const WITHOUT_NULL = /^(\w+) IS NOT NULL$/;

/**
 * Calls the watcher for each row that a statement of this connection touches, also if the statement leaves all columns
 * as they are. The triggers belong to the connection, and no other one sees them. Returns the tables by their names.
 */
export function watchRows(database: DatabaseSync, watcher: RowWatcher): ReadonlyMap<string, WatchedTable> {
  const tables = new Map<string, WatchedTable>();
  const indexes: (readonly UniqueIndex[])[] = [];
  const read = (number: number, values: readonly Value[]): { row: string; entries: string[] } => {
    const entries: string[] = [];
    let from = 0;
    for (const [at, { columns, condition }] of indexes[number]!.entries()) {
      const isIn = condition === undefined || values[from] === 1;
      if (condition !== undefined) from += 1;
      const key = values.slice(from, from + columns.length);
      from += columns.length;
      if (isIn && !key.includes(null)) entries.push(`${number}.${at} ${key.join(BETWEEN)}`);
    }
    const width = indexes[number]![0]!.columns.length;
    return { row: nameRow(number, values.slice(0, width).join(BETWEEN)), entries };
  };
  const define = (name: string, run: (...values: Value[]) => number | null): void => {
    database.function(name, { varargs: true }, run);
  };
  for (const act of ['insert', 'write', 'delete'] as const)
    define(`note_${act}`, (number, ...values) => {
      watcher.onTouch({ act, ...read(Number(number), values) });
      return null;
    });
  define('note_change', (number, ...values) => {
    const half = values.length / 2;
    const [old, now] = [read(Number(number), values.slice(0, half)), read(Number(number), values.slice(half))];
    // the row is locked before its new entries can wait for others
    watcher.onTouch({ act: 'write', row: old.row, entries: old.entries });
    watcher.onTouch({ act: 'write', row: now.row, entries: now.entries });
    return null;
  });
  define('may_touch', (number, ...key) => Number(watcher.mayTouch(nameRow(Number(number), key.join(BETWEEN)))));
  define('is_locked', (number, ...key) => Number(watcher.isLocked(nameRow(Number(number), key.join(BETWEEN)))));

  for (const { name } of selectRows<{ name: string }>(database, LIST_TABLES)) {
    const columns = selectRows<ColumnRow>(database, `PRAGMA table_info(${name})`);
    const primaryKey = columns
      .filter(({ pk }) => pk > 0)
      .toSorted((one, other) => one.pk - other.pk)
      .map((column) => column.name);
    const number = indexes.length;
    if (primaryKey.length === 0) {
      exec.call(database, refuseWrites(name));
      continue;
    }
    tables.set(name, { number, name, primaryKey });
    indexes.push([{ columns: primaryKey, condition: undefined }, ...listUniqueIndexes(database, name)]);
    exec.call(database, buildTriggers(tables.get(name)!, indexes[number]!, columns));
  }
  return tables;
}

/** Names a row by its table and the text of its primary key. */
export function nameRow(table: number, key: string): string {
  return `${table} ${key}`;
}

/** The expression for the text of the primary key of a row. */
export function formatKey({ name, primaryKey }: WatchedTable): string {
  return primaryKey.map((column) => `${name}.${column}`).join(' || char(0) || ');
}

const LIST_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";

interface ColumnRow {
  readonly name: string;
  readonly pk: number;
}

function listUniqueIndexes(database: DatabaseSync, table: string): readonly UniqueIndex[] {
  const found = selectRows<{ name: string; unique: number; origin: string; sql: string | null }>(
    database,
    `SELECT list.name, list."unique", list.origin, sqlite_schema.sql FROM pragma_index_list('${table}') AS list
     LEFT JOIN sqlite_schema ON sqlite_schema.name = list.name ORDER BY list.name`,
  );
  return found
    .filter(({ unique, origin }) => unique === 1 && origin !== 'pk')
    .map(({ name, sql }) => {
      const columns = selectRows<{ name: string }>(database, `PRAGMA index_info(${name})`).map((column) => column.name);
      const [, condition] = PARTIAL.exec(sql ?? '') ?? [];
      const [, filled = ''] = WITHOUT_NULL.exec(condition ?? '') ?? [];
      return { columns, condition: columns.includes(filled) ? undefined : condition };
    });
}

function buildTriggers(
  { number, name, primaryKey }: WatchedTable,
  indexes: readonly UniqueIndex[],
  columns: readonly ColumnRow[],
): string {
  const valuesOf = (row: 'OLD' | 'NEW'): string =>
    indexes
      .flatMap((index) => {
        const own = index.columns.map((column) => `${row}.${column}`);
        return index.condition === undefined ? own : [buildCondition(row, index.condition, columns), ...own];
      })
      .join(', ');
  const keyOf = primaryKey.map((column) => `OLD.${column}`).join(', ');
  const trigger = (at: string, body: string): string =>
    `CREATE TEMP TRIGGER "${at} ${name}" ${at} ON main.${name} BEGIN SELECT ${body}; END;`;
  return [
    trigger('BEFORE INSERT', `note_insert(${number}, ${valuesOf('NEW')})`),
    trigger('AFTER INSERT', `note_write(${number}, ${valuesOf('NEW')})`),
    trigger('AFTER UPDATE', `note_change(${number}, ${valuesOf('OLD')}, ${valuesOf('NEW')})`),
    trigger('AFTER DELETE', `note_delete(${number}, ${valuesOf('OLD')})`),
    trigger('BEFORE UPDATE', `RAISE(IGNORE) WHERE NOT may_touch(${number}, ${keyOf})`),
    trigger('BEFORE DELETE', `RAISE(IGNORE) WHERE NOT may_touch(${number}, ${keyOf})`),
  ].join('\n');
}

/** The expression that is 1 for a row of a partial index. */
function buildCondition(row: 'OLD' | 'NEW', condition: string, columns: readonly ColumnRow[]): string {
  const used = columns.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(condition));
  const values = used.map(({ name }) => `${row}.${name} AS ${name}`).join(', ');
  return `(SELECT 1 FROM (SELECT ${values}) WHERE ${condition})`;
}

/** A table without a primary key has no names for its rows, and no part of the product may write to it here. */
function refuseWrites(name: string): string {
  return ['INSERT', 'UPDATE', 'DELETE']
    .map(
      (act) => `CREATE TEMP TRIGGER "${act} ${name}" BEFORE ${act} ON main.${name}
        BEGIN SELECT RAISE(ABORT, 'the rows of ${name} have no primary key to lock'); END;`,
    )
    .join('\n');
}

function selectRows<T extends object>(database: DatabaseSync, text: string): readonly T[] {
  return database.prepare(text).all() as unknown as readonly T[];
}
