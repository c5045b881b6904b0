import { parameters } from './multi-row.ts';
import type { SqlStatement, SqlValue } from './sql.ts';

/** A value for each name. A value without a name does not compile, so values cannot change places. */
export type NamedValues<N extends string> = Readonly<Record<N, SqlValue>>;

/** The values in the order of the names. */
export function listValues<N extends string>(names: readonly N[], values: NamedValues<N>): SqlValue[] {
  return names.map((name) => values[name]);
}

/** Builds the statement that inserts a row of these columns, with a clause after its values. */
export function buildInsert<C extends string>(
  table: string,
  columns: readonly C[],
  end = '',
): (row: NamedValues<C>) => SqlStatement {
  const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${parameters(columns.length)}) ${end}`;
  return (row) => [text, listValues(columns, row)];
}

/** A statement with named values. `build` gets the parameter of each name. */
export function buildStatement<N extends string>(
  build: (parameter: (name: N) => string) => string,
): (values: NamedValues<N>) => SqlStatement {
  const names: N[] = [];
  const text = build((name) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return (values) => [text, listValues(names, values)];
}
