import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import { startPostgres } from '../../servers/postgres-server.ts';
import type { RunningServer } from '../../servers/launcher.ts';

const STATEMENTS_MAX = 5000;

/** A statement of one service, with its calls and its time in the server so far. */
export interface CountedStatement {
  readonly service: string;
  readonly text: string;
  readonly calls: number;
  readonly ms: number;
}

/** What PostgreSQL has done so far. */
export interface DatabaseWork {
  readonly statements: readonly CountedStatement[];
  readonly commits: number;
  readonly logBytes: number;
}

export interface CountingPostgres extends RunningServer {
  /** `databases`: the URL of the database of each service. */
  count(databases: Readonly<Record<string, string>>): Promise<DatabaseWork>;
}

/** A server of PostgreSQL that counts statements by `pg_stat_statements`, which Debian's package contains. */
export async function startCountingPostgres(): Promise<CountingPostgres | undefined> {
  const running = await startPostgres((data) => {
    const settings = [
      "shared_preload_libraries = 'pg_stat_statements'",
      `pg_stat_statements.max = ${STATEMENTS_MAX}`,
      'pg_stat_statements.track_utility = on',
    ];
    appendFileSync(path.join(data, 'postgresql.conf'), `${settings.join('\n')}\n`);
  });
  if (running === undefined) return undefined;
  const sql = openPostgres(running.url, { connections: 1 });
  await sql.write('CREATE EXTENSION IF NOT EXISTS pg_stat_statements');
  return {
    ...running,
    stop: async () => {
      await sql.close();
      await running.stop();
    },
    count: async (databases) => {
      const services = new Map(Object.entries(databases).map(([name, url]) => [new URL(url).pathname.slice(1), name]));
      const rows = await sql.read<{ database: string; query: string; calls: number; ms: number }>(
        `SELECT datname AS database, query, SUM(calls)::INT AS calls, SUM(total_exec_time)::FLOAT AS ms
         FROM pg_stat_statements JOIN pg_database ON pg_database.oid = dbid GROUP BY datname, query`,
      );
      const [totals] = await sql.read<{ commits: number | bigint; bytes: number | bigint }>(
        `SELECT (SELECT SUM(xact_commit)::BIGINT FROM pg_stat_database) AS commits,
                (pg_current_wal_lsn() - '0/0')::BIGINT AS bytes`,
      );
      return {
        statements: rows.flatMap(({ database, query, calls, ms }) => {
          const service = services.get(database);
          return service === undefined ? [] : [{ service, text: query.replace(/\s+/g, ' '), calls, ms }];
        }),
        commits: Number(totals?.commits),
        logBytes: Number(totals?.bytes),
      };
    },
  };
}
