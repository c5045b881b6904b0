import type { Sql, SqlRow, SqlValue } from '@reelgate/platform/sql/sql';

/** A row of a finished task or call, from which others are made. */
export interface TemplateRow {
  readonly table: string;
  readonly values: SqlRow;
}

/** What names one thing: an id of this program, the hash of content, the upstream's id. */
const NAMES = /\b(?:[a-z]+_[0-9a-v]{26,32}|[0-9a-f]{64}|91[0-9]{13})\b/g;
/** What many things share. */
const SHARED = /^token_/;
/** Says how far a pass has read. There is one such row, whatever it names. */
const PLACES = 'prompt_reading';
const ROUNDS_MAX = 8;

const TABLES = {
  sqlite: "SELECT name FROM sqlite_master WHERE type = 'table'",
  postgres: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = current_schema()',
} as const;

export interface Template {
  /** By database. */
  readonly rows: readonly (readonly TemplateRow[])[];
  readonly names: readonly string[];
}

/**
 * The rows of all databases that belong to these things: those that name it, and those that name what these rows name.
 * The databases hold little else.
 */
export async function templateRows(databases: readonly Sql[], things: readonly string[]): Promise<Template> {
  const all = await Promise.all(databases.map(allRows));
  const names = new Set(things);
  for (let round = 0, before = 0; names.size > before; round += 1) {
    if (round === ROUNDS_MAX) throw new Error(`${things.join(', ')} lead to too many others: ${[...names].join(', ')}`);
    before = names.size;
    const found = all.flat().filter((row) => isNamed(row, names));
    for (const other of found.flatMap(namesOf)) names.add(other);
  }
  return { names: [...names], rows: all.map((rows) => rows.filter((row) => isNamed(row, names))) };
}

/** The names of single things in a text, in their order. */
export const namesIn = (text: string): readonly string[] =>
  (text.match(NAMES) ?? []).filter((name) => !SHARED.test(name));

const namesOf = ({ values }: TemplateRow): readonly string[] =>
  Object.values(values).flatMap((value) => (typeof value === 'string' ? namesIn(value) : []));

const isNamed = (row: TemplateRow, names: ReadonlySet<string>): boolean => namesOf(row).some((name) => names.has(name));

async function allRows(database: Sql): Promise<readonly TemplateRow[]> {
  const tables = await database.read<{ name: string }>(TABLES[database.engine]);
  const rows = await Promise.all(
    tables
      .filter(({ name }) => name !== PLACES)
      .map(async ({ name: table }) =>
        (await database.read(`SELECT * FROM ${table}`)).map((values) => ({ table, values })),
      ),
  );
  return rows.flat();
}

export const isTime = (column: string, value: SqlValue): value is number =>
  typeof value === 'number' && /^(at|hour)$|_(at|until)$/.test(column);
