import { fromJsonString, toJsonString } from '@bufbuild/protobuf';
import type { DescMessage, MessageShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { WholeFields } from '@reelgate/platform/rpc/whole-message';
import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlStatement, SqlValue } from '@reelgate/platform/sql/sql';

/** The columns of a member of a record: one or several. */
interface Field<T> {
  readonly columns: readonly string[];
  read(row: SqlRow): T;
  write(value: T): SqlRow;
}

/** A field for every member of a record: a member without one does not compile. */
export type Fields<T> = { readonly [K in keyof T]-?: Field<T[K]> };

/** The columns of a record, and how it is read from and written to a row. */
export interface RecordColumns<T, W = T> {
  readonly names: readonly string[];
  /** The names for a SELECT. */
  readonly list: string;
  readonly read: (row: SqlRow) => T;
  readonly write: (record: W) => SqlRow;
  /** Reads the records of a SELECT by its text after FROM. */
  readonly selectFrom: (query: SqlQuery, from: string, values?: readonly SqlValue[]) => Promise<T[]>;
  /** Reads the first of them. */
  readonly selectFirstFrom: (query: SqlQuery, from: string, values?: readonly SqlValue[]) => Promise<T | undefined>;
}

export function recordColumns<T extends object>(fields: Fields<T>): RecordColumns<T> {
  const entries = Object.entries(fields) as [keyof T, Field<T[keyof T]>][];
  const names = entries.flatMap(([, { columns }]) => columns);
  const read = (row: SqlRow): T => {
    const record: { -readonly [K in keyof T]?: T[K] } = {};
    for (const [member, field] of entries) record[member] = field.read(row);
    return record as T;
  };
  const write = (record: T): SqlRow => {
    const row: Record<string, SqlValue> = {};
    for (const [member, field] of entries) Object.assign(row, field.write(record[member]));
    return row;
  };
  return { names, write, ...withSelects(names.join(', '), read) };
}

function withSelects<T>(list: string, read: (row: SqlRow) => T) {
  const selectFrom: RecordColumns<T>['selectFrom'] = async (query, from, values) =>
    (await query(`SELECT ${list} FROM ${from}`, values)).map(read);
  const selectFirstFrom: RecordColumns<T>['selectFirstFrom'] = async (query, from, values) =>
    (await selectFrom(query, from, values))[0];
  return { list, read, selectFrom, selectFirstFrom };
}

/** The columns of a read model: a row is read as the message of its contract. */
export function messageColumns<S extends DescMessage>(
  schema: S,
  fields: Fields<WholeFields<S>>,
): RecordColumns<MessageShape<S>, WholeFields<S>> {
  const { names, list, read, write } = recordColumns<WholeFields<S>>(fields);
  return { names, write, ...withSelects(list, (row) => toMessage(schema, read(row))) };
}

export function inText<T extends string = string>(column: string): Field<T> {
  return { columns: [column], read: (row) => text(row[column]) as T, write: (value) => ({ [column]: value }) };
}

export function inOptionalText(column: string): Field<string | undefined> {
  return {
    columns: [column],
    read: (row) => optionalText(row[column]),
    write: (value) => ({ [column]: value ?? null }),
  };
}

export function inNumber(column: string): Field<number> {
  return { columns: [column], read: (row) => Number(row[column]), write: (value) => ({ [column]: value }) };
}

export function inOptionalNumber(column: string): Field<number | undefined> {
  return {
    columns: [column],
    read: (row) => optionalNumber(row[column]),
    write: (value) => ({ [column]: value ?? null }),
  };
}

/** A time of a message. The column has its milliseconds. */
export function inTime(column: string): Field<Timestamp> {
  return {
    columns: [column],
    read: (row) => timestampFromMs(Number(row[column])),
    write: (value) => ({ [column]: timestampMs(value) }),
  };
}

/** An enum of a message. The column has the word of its value. */
export function inEnum<E extends number>(column: string, values: Readonly<Record<string, E>>): Field<E> {
  return {
    columns: [column],
    read: (row) => values[text(row[column])] ?? (0 as E),
    write: (value) => ({ [column]: Object.keys(values).find((word) => values[word] === value) ?? '' }),
  };
}

/** A flag is 0 or 1. */
export function inFlag(column: string): Field<boolean> {
  return {
    columns: [column],
    read: (row) => Number(row[column]) === 1,
    write: (value) => ({ [column]: value ? 1 : 0 }),
  };
}

export function inJson<T extends object>(column: string): Field<T> {
  return {
    columns: [column],
    read: (row) => JSON.parse(text(row[column])) as T,
    write: (value) => ({ [column]: JSON.stringify(value) }),
  };
}

export function inOptionalJson<T extends object>(column: string): Field<T | undefined> {
  return {
    columns: [column],
    read: (row) => fromJson<T>(row[column]),
    write: (value) => ({ [column]: toJson(value) }),
  };
}

/** A message of a contract. The column has its JSON. */
export function inOptionalMessage<S extends DescMessage>(
  column: string,
  schema: S,
): Field<MessageShape<S> | undefined> {
  return {
    columns: [column],
    read: (row) => (typeof row[column] === 'string' ? fromJsonString(schema, row[column]) : undefined),
    write: (value) => ({ [column]: toMessageJson(schema, value) }),
  };
}

/** A member that several columns hold. A row without it has null in `present`, and the values of `absent`. */
export function inColumns<T extends object>(
  columns: RecordColumns<T>,
  present: string,
  absent: SqlRow = Object.fromEntries(columns.names.map((name) => [name, null])),
): Field<T | undefined> {
  return {
    columns: columns.names,
    read: (row) => (row[present] === null || row[present] === undefined ? undefined : columns.read(row)),
    write: (value) => (value === undefined ? absent : columns.write(value)),
  };
}

/** The last texts of inserts, by their table. */
const inserts = new Map<string, InsertText>();

interface InsertText {
  readonly names: readonly string[];
  readonly end: string;
  readonly text: string;
}

/**
 * The statement that inserts a row, with the clauses after its values. A table with rows of the same columns has one
 * text.
 */
export function toInsert(table: string, row: SqlRow, end = ''): SqlStatement {
  const names = Object.keys(row);
  const known = inserts.get(table);
  if (known?.end === end && isSameList(known.names, names)) return [known.text, Object.values(row)];
  const text = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${parameters(names.length)}) ${end}`;
  inserts.set(table, { names, end, text });
  return [text, Object.values(row)];
}

function isSameList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => name === other[at]);
}

/** The statements that insert many rows of these columns, each of a number of rows from `inChunks`. */
export function insertMany<N extends string>(
  table: string,
  names: readonly N[],
  end = '',
): (rows: readonly Readonly<Record<N, SqlValue>>[]) => SqlStatement {
  const textByRows = byRows(
    (rows) => `INSERT INTO ${table} (${names.join(', ')}) VALUES ${valueRows(rows, names.length)} ${end}`,
  );
  return (rows) => [textByRows(rows.length), rowValues([], rows, (row) => names.map((name) => row[name] ?? null))];
}

/** Reads the rows of any number of ids, a chunk after the other. */
export async function readChunks(
  query: SqlQuery,
  statement: (rows: number) => string,
  ids: readonly string[],
): Promise<readonly SqlRow[]> {
  const rows: SqlRow[] = [];
  for (const chunk of inChunks(ids)) rows.push(...(await query(statement(chunk.length), chunk)));
  return rows;
}

/** Reads the texts of a column by the text of a SELECT after FROM. */
export async function selectTexts(
  query: SqlQuery,
  column: string,
  from: string,
  values?: readonly SqlValue[],
): Promise<string[]> {
  return (await query(`SELECT ${column} FROM ${from}`, values)).map((row) => text(row[column]));
}

/** Reads a number of the first row. Returns undefined if there is no row, or the number is null. */
export async function selectNumber(
  query: SqlQuery,
  expression: string,
  from: string,
  values?: readonly SqlValue[],
): Promise<number | undefined> {
  const [row] = await query(`SELECT ${expression} AS value FROM ${from}`, values);
  return optionalNumber(row?.['value']);
}

/** Counts the rows of a SELECT by its text after FROM. */
export async function countFrom(query: SqlQuery, from: string, values?: readonly SqlValue[]): Promise<number> {
  return (await selectNumber(query, 'COUNT(*)', from, values)) ?? 0;
}

/** Removes the rows that a SELECT finds, without the rows that another process has locked. Returns their number. */
export async function removeFirst(
  sql: Sql,
  { table, key, where }: { readonly table: string; readonly key: string; readonly where: string },
  values: readonly SqlValue[],
): Promise<number> {
  const found = `SELECT ${key} FROM ${table} WHERE ${where} ${sql.skipLocked}`;
  return (await sql.write(`DELETE FROM ${table} WHERE (${key}) IN (${found}) RETURNING ${key}`, values)).length;
}

/** Returns a function that reads the records of any number of ids, by their ids. */
export function findByIds<T>(
  { list, read }: RecordColumns<T>,
  table: string,
  column = 'id',
): (query: SqlQuery, ids: readonly string[]) => Promise<ReadonlyMap<string, T>> {
  const statement = byRows(
    (rows) => `SELECT ${column} AS record_id, ${list} FROM ${table} WHERE ${column} IN (${parameters(rows)})`,
  );
  return async (query, ids) => {
    const rows = await readChunks(query, statement, ids);
    return new Map(rows.map((row) => [text(row['record_id']), read(row)]));
  };
}

export function text(value: SqlValue | undefined): string {
  return String(value ?? '');
}

/** A text to search for. PostgreSQL refuses the zero character; the replacement occurs in no stored text. */
export function searchable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

export function optionalText(value: SqlValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

export function optionalNumber(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

/** The JSON of a message of a contract. */
export function toMessageJson<S extends DescMessage>(schema: S, message: MessageShape<S> | undefined): string | null {
  return message === undefined ? null : toJsonString(schema, message);
}

function fromJson<T>(value: SqlValue | undefined): T | undefined {
  return typeof value === 'string' ? (JSON.parse(value) as T) : undefined;
}
