import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { openStore, storeFile } from './open-store.ts';

test('an embedded store syncs its log with the function of its settings', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-open-store-'));
  const calls: string[] = [];
  const openLog = async (file: string) => ({
    sync: async () => calls.push(`sync ${file}`),
    close: async () => calls.push(`close ${file}`),
  });
  const sql = await openStore({ dataDir, name: 'things', url: undefined, openLog }, undefined);

  await sql.write('CREATE TABLE things (id INTEGER PRIMARY KEY)');
  await sql.close();

  const file = storeFile({ dataDir, name: 'things' });
  expect(calls).toEqual([`sync ${file}`, `close ${file}`]);
  rmSync(dataDir, { recursive: true });
});
