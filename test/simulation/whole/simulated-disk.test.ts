import { expect, test } from '@jest/globals';
import { runNode } from './simulate-seeds.ts';

/** Commits a row and waits for its sync, reads it on another connection, commits a second row, and crashes. */
const crash = (kind: string): string => `
  import path from 'node:path';
  import { DatabaseSync } from 'node:sqlite';
  import { openSqlite } from '@reelgate/platform/sql/sqlite';
  import { openDraws } from './draws.ts';
  import { openFaults } from './faults.ts';
  import { openScheduler } from './scheduler.ts';
  import { openSimulatedDisk } from './simulated-disk.ts';
  import { replaceNode } from './simulated-node.ts';
  const draws = openDraws(1);
  const faults = openFaults(draws);
  faults.end();
  const scheduler = openScheduler({ draws, hasLateTimers: false });
  const nothing = () => undefined;
  const disk = openSimulatedDisk({
    scheduler, draws, faults, log: nothing, onCommit: nothing, onFailedSync: nothing, crashNow: nothing,
  });
  replaceNode({ scheduler, random: draws.bytes(() => scheduler.nameChoice('bytes')) });
  const readRows = () => {
    const reader = new DatabaseSync(path.join(disk.folder(), 'rows.sqlite'), { readOnly: true });
    const rows = reader.prepare('SELECT number FROM rows ORDER BY number').all().map(({ number }) => number);
    reader.close();
    return rows.join(',');
  };
  const sql = openSqlite(path.join(disk.folder(), 'rows.sqlite'), disk.openLog);
  let seen;
  scheduler.after(1, scheduler.world, async () => {
    await sql.write('CREATE TABLE rows (number INTEGER)');
    await sql.write('INSERT INTO rows VALUES (1)');
    const before = readRows();
    await sql.commitAhead((query) => query('INSERT INTO rows VALUES (2)'));
    disk.crash('${kind}');
    seen = [before, readRows()].join(' then ');
  });
  await scheduler.run(() => seen !== undefined);
  disk.remove();
  console.log(seen);
`;

test.each([
  ['a kill leaves every commit', 'kill', '1 then 1,2'],
  ['a power cut leaves what was synced, also after a read of the store beside the program', 'power cut', '1 then 1'],
])('%s', async (_what, kind, rows) => {
  const { out } = await runNode(['--input-type=module', '--eval', crash(kind)]);

  expect(out).toBe(`${rows}\n`);
});
