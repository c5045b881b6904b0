import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import { describePooled } from '@reelgate/platform/testing/describe-pooled';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { taskStoreConformance } from '../../../testing/task-store-conformance.ts';
import { sqlTaskStore } from './sql-task-store.ts';
import type { TaskStore } from '../task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');

const suite = (open: OpenSql): void => {
  const newId = newIds(fakeClock());
  const storeOn = (sql: Sql): TaskStore =>
    sqlTaskStore(sql, newId, (_task, { state }) => ({ type: 'finished', payload: JSON.stringify({ state }) }));

  taskStoreConformance(async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    return { store: storeOn(sql), other: storeOn(open()), sql };
  });
};

describeOnEngines('the task store', suite);
describePooled('the task store', suite);
