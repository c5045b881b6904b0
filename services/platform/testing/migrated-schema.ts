import { migrate } from '../src/sql/migrate.ts';
import { openPostgres } from '../src/sql/postgres.ts';
import type { Sql } from '../src/sql/sql.ts';

/** Everything that a test could change in the tables themselves. */
const SHAPE = `SELECT md5(string_agg(part, ',' ORDER BY part)) AS shape FROM (
  SELECT concat_ws(' ', c.relname, a.attname, a.atttypid, a.attnotnull) AS part
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = $1::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT concat_ws(' ', conname, convalidated) FROM pg_constraint WHERE connamespace = $1::regnamespace
  UNION ALL SELECT concat_ws(' ', proname, prosrc) FROM pg_proc WHERE pronamespace = $1::regnamespace
  UNION ALL SELECT concat_ws(' ', tgname, tgenabled) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = $1::regnamespace AND NOT tgisinternal
) parts`;
const TABLES =
  "SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r'";

/** A schema with the tables of a service and the rows of its migrations. */
export interface MigratedSchema {
  readonly name: string;
  /** Gives the schema the content that it had at first. It is made anew only if a test has changed its tables. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

/** Returns the URL of a schema on the server or the database of a URL. */
export function buildSchemaUrl(url: string, name: string): string {
  return `${url}?options=-c%20search_path%3D${name}`;
}

/** Makes a schema. Migrations take a hundred times as long as removing the rows of a test. */
export async function openMigratedSchema(url: string, name: string, migrations: string): Promise<MigratedSchema> {
  const sql = openPostgres(buildSchemaUrl(url, name), { connections: 1 });
  const schema = await migrateSchema(sql, name, migrations);
  return { ...schema, close: () => sql.close() };
}

/** The same on an open database, whose search path has the schema. */
export async function migrateSchema(
  sql: Sql,
  name: string,
  migrations: string,
): Promise<Pick<MigratedSchema, 'name' | 'restore'>> {
  await makeSchema(sql, name, migrations);
  const shape = await readShape(sql, name);
  const emptied = await buildRestore(sql, name);
  return {
    name,
    restore: async () => {
      if ((await readShape(sql, name)) === shape) await sql.write(emptied);
      else await makeSchema(sql, name, migrations);
    },
  };
}

async function makeSchema(sql: Sql, name: string, migrations: string): Promise<void> {
  await sql.write(`DROP SCHEMA IF EXISTS ${name} CASCADE`);
  await sql.write(`CREATE SCHEMA ${name}`);
  await migrate(sql, migrations);
}

async function readShape(sql: Sql, name: string): Promise<unknown> {
  const [row] = await sql.read(SHAPE, [name]);
  return row?.['shape'];
}

/** One statement that removes all rows, also where a trigger or a reference forbids it, and adds those of migrations. */
async function buildRestore(sql: Sql, name: string): Promise<string> {
  const first = `${name}_first`;
  await sql.write(`DROP SCHEMA IF EXISTS ${first} CASCADE`);
  await sql.write(`CREATE SCHEMA ${first}`);
  const tables = (await sql.read(TABLES, [name])).map((row) => String(row['name']));
  const filled: string[] = [];
  for (const table of tables) {
    if ((await sql.read(`SELECT 1 FROM ${name}.${table} LIMIT 1`)).length === 0) continue;
    await sql.write(`CREATE TABLE ${first}.${table} AS TABLE ${name}.${table}`);
    filled.push(table);
  }
  return `DO $$ BEGIN
    PERFORM set_config('session_replication_role', 'replica', true);
    ${tables.map((table) => `DELETE FROM ${name}.${table};`).join('\n    ')}
    ${filled.map((table) => `INSERT INTO ${name}.${table} TABLE ${first}.${table};`).join('\n    ')}
  END $$`;
}
