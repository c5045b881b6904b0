import { openPostgres } from '../src/sql/postgres.ts';

/** Makes an empty database on the server of an URL; gives its own URL. */
export async function createDatabase(server: string, name: string): Promise<string> {
  const sql = openPostgres(server, 1);
  try {
    await sql.write(`CREATE DATABASE ${name}`);
  } finally {
    await sql.close();
  }
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}
