import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { OLD_SERVICES, createChainedTables, makeOldTables } from '../../../../test/harness/old-store.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { migrate, readSchema, listWithdrawn } from './migrate.ts';
import { readMigrations } from './migration-files.ts';
import type { Sql } from './sql.ts';

const OLD = /^a Reelgate from before the first release wrote this store \(it has 0001_\w+\.sql\), and this one cannot/;
const folderOf = (service: string): string => path.resolve(import.meta.dirname, `../../../${service}/migrations`);

describeOnEngines('a store from before the first release', (open: () => Sql) => {
  test.each(OLD_SERVICES)('of %s is refused as what it is, and nothing in it changes', async (service) => {
    const sql = open();
    await makeOldTables(sql, service);

    const refusals = await Promise.all(
      [migrate, readSchema].map((read) => read(sql, folderOf(service)).catch((error: unknown) => error)),
    );

    for (const refusal of refusals)
      expect(refusal).toMatchObject({ name: 'StoreRefused', isPlain: true, message: expect.stringMatching(OLD) });
    expect(await sql.read('SELECT name FROM schema_migrations')).toEqual([{ name: `0001_${service}.sql` }]);
  });

  test.each(OLD_SERVICES)('of %s with several migrations is refused in the same way', async (service) => {
    const sql = open();
    await createChainedTables(sql, service);
    const before = await sql.read('SELECT name FROM schema_migrations ORDER BY name');

    for (const read of [migrate, readSchema])
      await expect(read(sql, folderOf(service))).rejects.toMatchObject({
        name: 'StoreRefused',
        isPlain: true,
        message: expect.stringMatching(OLD),
      });

    expect(before.length).toBeGreaterThan(1);
    expect(await sql.read('SELECT name FROM schema_migrations ORDER BY name')).toEqual(before);
  });

  test('is told from a migration of this release that was edited', async () => {
    const sql = open();
    const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-edited-'));
    writeFileSync(path.join(folder, '0001_things.sql'), 'CREATE TABLE things (id INTEGER);\n');
    await migrate(sql, folder);
    writeFileSync(path.join(folder, '0001_things.sql'), 'CREATE TABLE things (id BIGINT);\n');

    await expect(migrate(sql, folder)).rejects.toMatchObject({
      name: 'StoreRefused',
      message: 'migration 0001_things.sql was edited after it ran; restore it and add a new file',
    });
    rmSync(folder, { recursive: true });
  });
});

test.each(OLD_SERVICES)('no migration that %s has is withdrawn', (service) => {
  const done = new Map(readMigrations(folderOf(service)).map(({ name, checksum }) => [name, checksum]));

  expect(done.size).toBeGreaterThan(0);
  expect(listWithdrawn(done)).toEqual([]);
});
