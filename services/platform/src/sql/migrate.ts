import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { Sql, SqlQuery } from './sql.ts';

const ADVISORY_LOCK = 7_301_952;

/**
 * Runs the numbered `.sql` files that are new to this database, in order, in one transaction. Several processes can
 * start at the same moment. A file that has run must never change: another checksum stops the start.
 */
export async function migrate(sql: Sql, folder: string): Promise<void> {
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  await sql.transaction(async (query) => {
    if (sql.engine === 'postgres') await query('SELECT pg_advisory_xact_lock($1)', [ADVISORY_LOCK]);
    await query('CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, checksum TEXT NOT NULL)');
    const done = new Map(
      (await query<{ name: string; checksum: string }>('SELECT name, checksum FROM schema_migrations')).map((row) => [
        row.name,
        row.checksum,
      ]),
    );
    for (const name of files) await runOnce(query, name, readFileSync(path.join(folder, name), 'utf8'), done.get(name));
  });
}

async function runOnce(query: SqlQuery, name: string, text: string, seen: string | undefined): Promise<void> {
  const checksum = createHash('sha256').update(text).digest('hex');
  if (seen === checksum) return;
  if (seen !== undefined) throw new Error(`migration ${name} was edited after it ran; restore it and add a new file`);
  for (const statement of statementsOf(text)) await query(statement);
  await query('INSERT INTO schema_migrations (name, checksum) VALUES ($1, $2)', [name, checksum]);
}

/** A statement ends with a semicolon at the end of a line. A comment has a line of its own. */
function statementsOf(text: string): string[] {
  const code = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n');
  return code
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}
