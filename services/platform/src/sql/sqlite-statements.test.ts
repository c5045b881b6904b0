import { DatabaseSync, constants } from 'node:sqlite';
import { expect, test } from '@jest/globals';
import { sqliteStatements } from './sqlite-statements.ts';

test('a statement is planned once, whatever its limit is', async () => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE numbers (number INTEGER PRIMARY KEY); INSERT INTO numbers VALUES (1), (2), (3), (4)');
  let looks = 0;
  // SQLite asks it as it plans a statement
  database.setAuthorizer(() => {
    looks += 1;
    return constants.SQLITE_OK;
  });
  const query = sqliteStatements(database);
  const read = (above: number, limit: number): Promise<unknown[]> =>
    query('SELECT number FROM numbers WHERE number > $1 ORDER BY number LIMIT $2', [above, limit]);
  expect(await read(0, 3)).toHaveLength(3);
  expect(looks).toBeGreaterThan(0);
  looks = 0;

  const page = await read(1, 2);

  expect(page).toEqual([{ number: 2 }, { number: 3 }]);
  expect(looks).toBe(0);
});
