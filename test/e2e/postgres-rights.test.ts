import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgres } from '@reelgate/platform/sql/postgres';
import type { Sql } from '@reelgate/platform/sql/sql';
import { until } from '@reelgate/platform/testing/until';
import { askDoctor } from '../harness/ask-doctor.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { describeWith } from '../servers/describe-with.ts';
import { postgresServer } from '../servers/postgres-server.ts';

const TIMEOUT_MS = 120_000;
const PASSWORD = 'never-in-a-log';

describeWith(postgresServer, 'one program', (postgres) => {
  let program: Program;
  let owner: Sql;
  let where: string;
  beforeAll(async () => {
    const { billing } = await newDatabases(postgres());
    owner = openPostgres(billing, { connections: 1 });
    await owner.write('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    await owner.write('CREATE ROLE app LOGIN');
    const { host } = new URL(billing);
    where = `billing cannot use the database billing at ${host} as the role app: permission denied for schema public`;
    const database = `postgres://app:${PASSWORD}@${host}/billing`;
    program = await newProgram('one program', { upstream: '127.0.0.1:1', databases: { billing: database } });
    program.startOne(undefined);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await owner?.close();
  }, TIMEOUT_MS);

  test(
    'whose role has no rights on the schema names it in the log, in the doctor and in reelgate migrate, without a stack',
    async () => {
      await until(() => program.output().includes(where), TIMEOUT_MS / 2);
      const { lines, result } = await askDoctor(program);
      const migrated = await program.command('migrate', 'billing');

      expect(lines).toContainEqual({
        ...{ subject: 'billing', part: 'database', grade: 'fail', detail: `seen from here, ${where}` },
        advice: expect.stringMatching(/^run ALTER DATABASE billing OWNER TO app as a superuser/),
      });
      expect(migrated.err).toMatch(new RegExp(`^${where}; run ALTER DATABASE billing OWNER TO app[^\\n]*\\n$`));
      const said = program.output() + result.out + result.err + migrated.err;
      expect(said).not.toContain(PASSWORD);
      expect(said).not.toMatch(/"stack"|\n +at /);
    },
    TIMEOUT_MS,
  );

  test(
    'goes on by itself once the role has them',
    async () => {
      await owner.write('ALTER DATABASE billing OWNER TO app');

      await program.ready();
    },
    TIMEOUT_MS,
  );
});
