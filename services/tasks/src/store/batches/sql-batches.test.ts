import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { batchStoreConformance } from '../../../testing/batches/batch-store-conformance.ts';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { sqlJobs } from '../jobs/sql-jobs.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';
import { sqlBatches } from './sql-batches.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');

describeOnEngines('the batch store', (open) => {
  const newId = newIds(fakeClock());

  batchStoreConformance(async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    return {
      batches: sqlBatches(sql, newId),
      tasks: sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' })),
      jobs: sqlJobs(sql, newId),
      sql,
    };
  });
});
