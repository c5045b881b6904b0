import path from 'node:path';
import { expect, test } from '@jest/globals';
import { migrate } from '@reelgate/platform/sql/migrate';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import { NO_RESULTS } from './media-store.ts';
import { sqlKeptResults } from './sql-media-store.ts';

const SOON = 50;
const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');

describeOnEngines('the count of results', (open) => {
  test('adds the bytes of kept results and of those that expire soon page by page, and of nothing else', async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    await sql.write(
      `INSERT INTO blobs (sha256, storage_key, bytes, pinned_until, keep_until)
       VALUES ('a', 'a', 100, 0, 0), ('b', 'b', 20, 0, 0), ('c', 'c', 3, 0, 0)`,
    );
    const objects = [
      ['obj_1', 'result', 'a', null, 50],
      ['obj_2', 'result', 'a', null, 51],
      ['obj_3', 'result', 'b', 1, 10],
      ['obj_4', 'staged', 'b', null, 10],
      ['obj_5', 'result', 'c', null, 10],
    ] as const;
    for (const [id, purpose, sha256, removedAt, expiresAt] of objects)
      await sql.write(
        `INSERT INTO objects (id, account_id, task_id, purpose, sha256, created_at, expires_at, removed_at)
         VALUES ($1, 'acme', $1, $2, $3, 0, $5, $4)`,
        [id, purpose, sha256, removedAt, expiresAt],
      );

    const [two, ten] = [sqlKeptResults(sql, 2), sqlKeptResults(sql, 10)];
    let count = await two(NO_RESULTS, SOON);
    expect(count).toEqual({ after: 'obj_2', bytes: 200, expiring: 100, isWhole: false });
    count = await two(count, SOON);
    expect(count).toEqual({ after: 'obj_4', bytes: 200, expiring: 100, isWhole: false });
    expect(await two(count, SOON)).toMatchObject({ bytes: 203, expiring: 103, isWhole: true });
    expect(await ten(NO_RESULTS, SOON)).toMatchObject({ bytes: 203, expiring: 103, isWhole: true });
  });
});
