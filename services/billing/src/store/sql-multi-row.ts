import type { SqlValue } from '@reelgate/platform/sql/sql';

/*
 * Statements over many rows at once. A statement's text is kept prepared for ever, so there is one only for each of these numbers of rows;
 * what lies between is filled up by repeating the last row, which none of the statements minds.
 */
const ROWS = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256] as const;
const ROWS_MAX = 256;

/** The items in their order, in pieces that a statement can take. */
export function inPieces<T>(items: readonly T[]): T[][] {
  const pieces: T[][] = [];
  for (let from = 0; from < items.length; from += ROWS_MAX) pieces.push(filled(items.slice(from, from + ROWS_MAX)));
  return pieces;
}

function filled<T>(items: T[]): T[] {
  const wanted = ROWS.find((rows) => rows >= items.length) ?? ROWS_MAX;
  const last = items.at(-1);
  while (last !== undefined && items.length < wanted) items.push(last);
  return items;
}

/** Makes each text once for each number of rows. */
export function byRows(textOf: (rows: number) => string): (rows: number) => string {
  const known = new Map<number, string>();
  return (rows) => {
    const text = known.get(rows) ?? textOf(rows);
    known.set(rows, text);
    return text;
  };
}

/** `($3, $4), ($5, $6)`: so many rows of so many columns, with the parameters from the first one on; a row may end in fixed texts. */
export function valueRows(
  rows: number,
  columns: number,
  { first = 1, rest = '', casts = [] }: { first?: number; rest?: string; casts?: readonly string[] } = {},
): string {
  return Array.from({ length: rows }, (_row, row) => {
    const cells = Array.from({ length: columns }, (_column, column) => {
      const parameter = `$${String(first + row * columns + column)}`;
      const type = row === 0 ? casts[column] : undefined;
      return type === undefined ? parameter : `CAST(${parameter} AS ${type})`;
    });
    return `(${cells.join(', ')}${rest})`;
  }).join(', ');
}

/** The values of a statement over many rows: those before, then each row's in their order. */
export function rowValues<T>(
  before: readonly SqlValue[],
  items: readonly T[],
  rowOf: (item: T) => readonly SqlValue[],
): SqlValue[] {
  const values = [...before];
  for (const item of items) values.push(...rowOf(item));
  return values;
}

/** `$1, $2, $3` */
export function parameters(count: number, first = 1): string {
  return Array.from({ length: count }, (_, at) => `$${String(first + at)}`).join(', ');
}
