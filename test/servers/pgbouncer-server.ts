import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { explainMissing } from './explain-missing.ts';
import { findProgram } from './find-program.ts';
import type { Launcher, RunningServer } from './launcher.ts';
import { postgresServer } from './postgres-server.ts';
import { newServerFolder } from './run-folder.ts';
import { startProcess } from './start-process.ts';

const PROGRAM = 'pgbouncer';

/** PgBouncer in transaction mode, in front of a PostgreSQL of its own. */
export const pgBouncerServer: Launcher = {
  name: 'PgBouncer',
  missing: () => postgresServer.missing() ?? explainMissing(PROGRAM, 'pgbouncer', () => findProgram(PROGRAM)),
  start: async () => {
    const postgres = await postgresServer.start();
    if (postgres === undefined) return undefined;
    const pooler = await startPgBouncer(postgres.url);
    return {
      ...pooler,
      stop: async () => {
        await pooler.stop();
        await postgres.stop();
      },
    };
  },
};

/** Pools the connections to a server in transaction mode: its clients share fewer connections than they are. */
export async function startPgBouncer(
  postgresUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const { hostname, port: postgresPort, username } = new URL(postgresUrl);
  const folder = newServerFolder('pgbouncer');
  const file = path.join(folder, 'pgbouncer.ini');
  return startProcess({
    program: findProgram(PROGRAM) ?? PROGRAM,
    folder,
    args: (port) => {
      const lines = {
        listen_addr: '127.0.0.1',
        listen_port: String(port),
        unix_socket_dir: '',
        auth_type: 'any',
        pool_mode: 'transaction',
        default_pool_size: '4',
        max_client_conn: '500',
        ...settings,
      };
      writeFileSync(
        file,
        [
          '[databases]',
          `* = host=${hostname} port=${postgresPort} user=${username}`,
          '[pgbouncer]',
          ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
          '',
        ].join('\n'),
      );
      chmodSync(file, 0o644);
      return [file];
    },
    ready: /process up/,
    url: (port) => Object.assign(new URL(postgresUrl), { port: String(port) }).href,
    // SIGTERM waits for its clients
    stopSignal: 'SIGQUIT',
  });
}
