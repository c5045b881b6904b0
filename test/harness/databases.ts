import { openPostgres } from '@reelgate/platform/sql/postgres';

/** Makes an empty database for each service; gives their URLs. */
export async function newDatabases(server: string): Promise<Record<'tasks' | 'billing' | 'media', string>> {
  const sql = openPostgres(server);
  const made = { tasks: '', billing: '', media: '' };
  for (const name of ['tasks', 'billing', 'media'] as const) {
    await sql.write(`CREATE DATABASE ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    made[name] = url.href;
  }
  await sql.close();
  return made;
}
