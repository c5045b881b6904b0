import { openPostgres } from '../src/sql/postgres.ts';

/** Creates an empty database on the server of a URL and returns its own URL. */
export async function createDatabase(server: string, name: string): Promise<string> {
  const sql = openPostgres(server, 1);
  try {
    await sql.write(`CREATE DATABASE ${name}`);
  } finally {
    await sql.close();
  }
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}
