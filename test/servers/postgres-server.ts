import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { explainMissing } from './explain-missing.ts';
import type { Launcher, RunningServer } from './launcher.ts';
import { findPostgres, preparePostgres } from './postgres-programs.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';
import { unprivilegedUser } from './unprivileged.ts';

const INITDB_TIMEOUT_MS = 60_000;
const CONNECT_TIMEOUT_MS = 10_000;
const run = promisify(execFile);

/** PostgreSQL with one empty database and a superuser. Its data would not survive a power cut. */
export const postgresServer: Launcher = {
  name: 'PostgreSQL',
  missing: () => explainMissing('PostgreSQL', 'postgresql', findPostgres),
  start: () => startPostgres(),
  empty: emptyPostgres,
};

/** `configure` may change the configuration in the data folder before the server starts. */
export async function startPostgres(
  configure: (data: string) => void = () => undefined,
): Promise<RunningServer | undefined> {
  const found = findPostgres();
  if (found === undefined) return undefined;
  const bin = preparePostgres(found);
  const folder = newServerFolder('postgres');
  const data = path.join(folder, 'data');
  const options = { cwd: folder, timeout: INITDB_TIMEOUT_MS, ...unprivilegedUser() };
  await run(
    path.join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    options,
  );
  configure(data);
  return startProcess({
    program: path.join(bin, 'postgres'),
    folder,
    args: (port) => [
      '-D',
      data,
      '-p',
      String(port),
      '-h',
      '127.0.0.1',
      '-k',
      '',
      '-F',
      '-c',
      'full_page_writes=off',
      '-c',
      'shared_buffers=32MB',
      '-c',
      'autovacuum=off',
    ],
    ready: /database system is ready to accept connections/,
    url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
    // SIGINT closes open connections instead of waiting for them.
    stopSignal: 'SIGINT',
  });
}

/** Drops every database, role and setting that tests have made, and makes the empty database anew. */
async function emptyPostgres(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: Object.assign(new URL(url), { pathname: '/template1' }).href,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  await client.connect();
  const run = async (list: string, act: (name: string) => string): Promise<void> => {
    const { rows } = await client.query<{ name: string }>(list);
    for (const { name } of rows) await client.query(act(client.escapeIdentifier(name)));
  };
  try {
    await run(
      'SELECT datname AS name FROM pg_database WHERE NOT datistemplate',
      (name) => `DROP DATABASE ${name} WITH (FORCE)`,
    );
    await run(
      "SELECT rolname AS name FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> 'postgres'",
      (name) => `DROP ROLE ${name}`,
    );
    await client.query('ALTER SYSTEM RESET ALL');
    await client.query('SELECT pg_reload_conf()');
    await client.query('CREATE DATABASE postgres');
  } finally {
    await client.end();
  }
}
