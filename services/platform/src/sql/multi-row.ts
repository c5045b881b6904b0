import type { SqlValue } from './sql.ts';

/*
 * Statements over many rows at once. The database keeps each text prepared forever, so there is one text for each of
 * these numbers of rows only. A chunk between two numbers is filled up with copies of its last item; a statement
 * that minds a repeated row takes exact chunks.
 */
const ROW_COUNTS: readonly number[] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256];
const ROWS_MAX = 256;

/** The items in their order, in chunks that one statement can take. */
export function inChunks<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let from = 0; from < items.length; from += ROWS_MAX) chunks.push(fillChunk(items.slice(from, from + ROWS_MAX)));
  return chunks;
}

function fillChunk<T>(items: T[]): T[] {
  const wanted = ROW_COUNTS.find((rows) => rows >= items.length) ?? ROWS_MAX;
  const last = items.at(-1);
  while (last !== undefined && items.length < wanted) items.push(last);
  return items;
}

/**
 * The items in their order, in chunks without copies: for PostgreSQL, which refuses an upsert that meets a row twice.
 */
export function inExactChunks<T>(items: readonly T[]): T[][] {
  const chunks: T[][] = [];
  let from = 0;
  while (from < items.length) {
    const left = items.length - from;
    const rows = ROW_COUNTS.findLast((count) => count <= left) ?? 1;
    chunks.push(items.slice(from, from + rows));
    from += rows;
  }
  return chunks;
}

/**
 * Caches the text of a statement for each number of rows. A text is built at the first use, because many numbers never
 * occur.
 */
export function byRows(buildText: (rows: number) => string): (rows: number) => string {
  const texts = new Map<number, string>();
  return (rows) => {
    const known = texts.get(rows);
    if (known !== undefined) return known;
    if (!ROW_COUNTS.includes(rows)) throw new RangeError(`no statement takes ${rows} rows`);
    const text = buildText(rows);
    texts.set(rows, text);
    return text;
  };
}

/** `($3, $4), ($5, $6)`: rows of columns, with parameters from `first` on. Each row can end in a fixed text. */
export function valueRows(
  rows: number,
  columns: number,
  { first = 1, rest = '', casts = [] }: { first?: number; rest?: string; casts?: readonly string[] } = {},
): string {
  return Array.from({ length: rows }, (_row, row) => {
    const cells = Array.from({ length: columns }, (_column, column) => {
      const parameter = `$${first + row * columns + column}`;
      const type = row === 0 ? casts[column] : undefined;
      return type === undefined ? parameter : `CAST(${parameter} AS ${type})`;
    });
    return `(${cells.join(', ')}${rest})`;
  }).join(', ');
}

/** Returns the values of a statement over many rows: the leading ones, then the values of each row in order. */
export function rowValues<T>(
  leading: readonly SqlValue[],
  items: readonly T[],
  rowOf: (item: T) => readonly SqlValue[],
): SqlValue[] {
  const values = [...leading];
  for (const item of items) values.push(...rowOf(item));
  return values;
}

/** `$1, $2, $3` */
export function parameters(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `$${first + index}`).join(', ');
}

/** The sizes of the statements, so that their number does not grow with the number of ids. */
const SIZES = [1, 16] as const;

interface IdList {
  /** `$2, $3, …` for `IN (…)`. */
  readonly parameters: string;
  readonly values: readonly string[];
}

/** The ids of one statement, at most `most`. Copies of the last one fill the list up to the size of the statement. */
export function idList(ids: readonly string[], most: number, firstParameter = 1): IdList {
  const size = SIZES.find((one) => one >= ids.length) ?? most;
  const values = Array.from({ length: size }, (_, index) => ids[index] ?? ids.at(-1) ?? '');
  return { parameters: values.map((_, index) => `$${firstParameter + index}`).join(', '), values };
}
