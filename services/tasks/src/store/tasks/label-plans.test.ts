import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { explained } from '../../../testing/store/explained.ts';
import type { ListFilter, TaskStore } from '../task-store.ts';
import { sqlTaskStore } from './sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const OF_LABEL: ListFilter = { accountId: 'acme', label: 'spring' };
let folder = '';
let sql: Sql;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-plans-'));
  sql = await openSql({ url: undefined, dataDir: folder, name: 'tasks', migrations: MIGRATIONS });
});
afterEach(async () => {
  await sql.close();
  rmSync(folder, { recursive: true });
});

test.each<[string, (store: TaskStore) => Promise<unknown>]>([
  ['a page', (store) => store.list(OF_LABEL, { limit: 10 })],
  ['a step', (store) => store.listStep(OF_LABEL, { limit: 10 })],
  [
    'a step of its failures of a model',
    (store) => store.listStep({ ...OF_LABEL, states: ['failed'], model: 'm' }, { limit: 10, after: 'task_1' }),
  ],
  ['the count', (store) => store.countStep(OF_LABEL, 10)],
])('%s of a label goes along its tasks alone', async (_what, call) => {
  const plans: string[] = [];
  const noted: Promise<void>[] = [];
  await call(
    sqlTaskStore(explained(sql, plans, noted), newIds(fakeClock()), () => ({ type: 'finished', payload: '{}' })),
  );
  await Promise.all(noted);
  const ofTasks = plans.filter((step) => /\btasks\b/.test(step));

  expect(ofTasks.length).toBeGreaterThan(0);
  for (const step of ofTasks) expect(step).toContain('tasks_by_label (account_id=? AND label=?');
});
