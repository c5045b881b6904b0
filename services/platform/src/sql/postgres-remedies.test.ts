import { mkdirSync, chownSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { smallDisk } from '../../../../test/harness/small-disk.ts';
import type { SmallDisk } from '../../../../test/harness/small-disk.ts';
import type { RunningServer } from '../../../../test/servers/launcher.ts';
import { postgresServer, startPostgres } from '../../../../test/servers/postgres-server.ts';
import { unprivilegedUser } from '../../../../test/servers/unprivileged.ts';
import { describeErrors } from '../describe-error.ts';
import { openPostgres } from './postgres.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './sql.ts';

const PASSWORD = 'never-in-a-message';
/** Larger than what the server has kept of its files, and than the rest of the disk. */
const ROWS = 'INSERT INTO wide SELECT repeat(md5(n::text), 30) FROM generate_series(1, 40000) n';

const withPostgres = postgresServer.missing() === undefined ? describe : describe.skip;

withPostgres('a fault that an operator can mend names the service, the database, the role and the remedy', () => {
  let server: RunningServer | undefined;
  beforeAll(async () => {
    server = await startPostgres((data) => {
      writeFileSync(
        path.join(data, 'pg_hba.conf'),
        [
          'host all postgres,app,few,quiet 127.0.0.1/32 trust',
          'hostssl all encrypted 127.0.0.1/32 trust',
          'host all guarded 127.0.0.1/32 scram-sha-256',
          'host all missing 127.0.0.1/32 trust',
        ].join('\n'),
      );
    });
    const owner = openPostgres(server!.url);
    await owner.write('CREATE DATABASE bills');
    await owner.write('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    for (const role of ['app', 'few', 'quiet', 'encrypted', 'guarded']) await owner.write(`CREATE ROLE ${role} LOGIN`);
    await owner.write(`ALTER ROLE guarded PASSWORD '${PASSWORD}-right'`);
    await owner.write('ALTER ROLE few CONNECTION LIMIT 0');
    await owner.write('ALTER DATABASE bills OWNER TO quiet');
    await owner.write('ALTER ROLE quiet SET default_transaction_read_only = on');
    await owner.write('CREATE DATABASE closed');
    await owner.write('REVOKE CONNECT ON DATABASE closed FROM PUBLIC');
    await owner.close();
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
  });

  const at = (role: string, database: string, query = ''): string => {
    const url = new URL(server?.url ?? '');
    return `postgres://${role}:${PASSWORD}@${url.host}/${database}${query}`;
  };
  const failure = async (url: string): Promise<StoreUnavailable> => {
    const sql = openPostgres(url, { connections: 1, connectMs: 2000 }, 'billing');
    try {
      return await create(sql).then(() => new StoreUnavailable('no failure'), toUnavailable);
    } finally {
      await sql.close();
    }
  };
  const create = (sql: Sql): Promise<unknown> =>
    sql.transaction((query) => query('CREATE TABLE IF NOT EXISTS bills_of_test (id INTEGER)'));

  test.each<[string, string, string, RegExp]>([
    [
      'no rights on the schema',
      'app',
      'postgres',
      /denied for schema public; run ALTER DATABASE postgres OWNER TO app/,
    ],
    ['no right to connect', 'app', 'closed', /denied for database "closed"; run ALTER DATABASE closed OWNER TO app/],
    ['no such database', 'app', 'Absent', /"Absent" does not exist; run CREATE DATABASE "Absent" OWNER app/],
    [
      'a wrong password',
      'guarded',
      'bills',
      /authentication failed .*; correct role and password in billing\.database/,
    ],
    ['no such role', 'missing', 'bills', /role "missing" does not exist; run CREATE ROLE missing LOGIN/],
    ['a server that is read-only', 'quiet', 'bills', /read-only transaction; name the primary in billing\.database/],
    ['too many connections', 'few', 'bills', /too many connections .*; lower billing\.postgres\.connections/],
    ['a server that wants TLS', 'encrypted', 'bills', /no encryption; .* add sslmode=require to billing\.database/],
  ])('%s', async (_what, role, database, expected) => {
    const { message, stack } = await failure(at(role, database));

    const name = /[A-Z]/.test(database) ? `"${database}"` : database;
    expect(message).toContain(
      `billing cannot use the database ${name} at ${new URL(server!.url).host} as the role ${role}:`,
    );
    expect(message).toMatch(expected);
    expect(message).not.toMatch(/\n/);
    expect(`${message} ${stack}`).not.toContain(PASSWORD);
  });

  test.each<[string, () => string, RegExp]>([
    ['a server without TLS', () => at('app', 'bills', '?sslmode=require'), /does not support SSL.*; turn ssl on/],
    ['a port without a server', () => 'postgres://app@127.0.0.1:1/bills', /ECONNREFUSED.*; start the server or repair/],
    [
      'a name without an address',
      () => 'postgres://app@none.invalid/bills',
      /none\.invalid.*; start the server or repair/,
    ],
  ])('%s', async (_what, url, expected) => {
    const { message } = await failure(url());

    expect(message).toMatch(/^billing cannot use the database bills at \S+:\d+ as the role app: /);
    expect(message).toMatch(expected);
    expect(message).not.toContain(PASSWORD);
  });

  test('a right that is taken away while the service runs, and a line of the log has no stack', async () => {
    const [owner, app] = [openPostgres(server!.url), openPostgres(at('app', 'postgres'), {}, 'billing')];
    await owner.write('CREATE TABLE shared (id INTEGER)');
    await owner.write('GRANT SELECT, INSERT ON shared TO app');
    await app.write('INSERT INTO shared VALUES (1)');
    await owner.write('REVOKE INSERT ON shared FROM app');

    const error = await app.write('INSERT INTO shared VALUES (2)').catch(toUnavailable);

    expect(describeErrors({ err: error })).toEqual({
      err: {
        type: 'StoreUnavailable',
        message: expect.stringMatching(/role app: permission denied for table shared; .*ALTER TABLE … OWNER TO app/),
      },
    });
    await Promise.all([owner.close(), app.close()]);
  });

  const disk: SmallDisk | undefined = smallDisk('64m');
  afterAll(() => disk?.close());
  (disk === undefined ? test.skip : test)('a full disk, until there is room again', async () => {
    const folder = path.join(disk!.folder, 'space');
    mkdirSync(folder);
    const user = unprivilegedUser();
    if (user !== undefined) for (const one of [disk!.folder, folder]) chownSync(one, user.uid, user.gid);
    const sql = openPostgres(server!.url, {}, 'billing');
    await sql.write(`CREATE TABLESPACE small LOCATION '${folder}'`);
    await sql.write('CREATE TABLE wide (text TEXT) TABLESPACE small');
    disk!.fill(1024 * 1024);

    const error = await sql.write(ROWS).catch(toUnavailable);

    expect(error).toMatchObject({
      message: expect.stringMatching(/No space left on device; free space on the disk of the server/),
      fault: { detail: expect.stringContaining('billing cannot use the database postgres') },
    });
    disk!.empty();
    await sql.write(ROWS);
    await sql.write('DROP TABLE wide');
    await sql.write('DROP TABLESPACE small');
    await sql.close();
  });
});

function toUnavailable(error: unknown): StoreUnavailable {
  if (error instanceof StoreUnavailable) return error;
  throw error;
}
