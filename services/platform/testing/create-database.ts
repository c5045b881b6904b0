import pg from 'pg';

/** Creates an empty database on the server of a URL and returns its own URL. */
export async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client(server);
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${name}`);
  } finally {
    await client.end();
  }
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}
