import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import { describePooled } from '@reelgate/platform/testing/describe-pooled';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { jobStoreConformance } from '../../../testing/jobs/job-store-conformance.ts';
import { sqlJobs } from './sql-jobs.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');

const suite = (open: OpenSql): void => {
  const newId = newIds(fakeClock());

  jobStoreConformance(async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    return {
      jobs: sqlJobs(sql, newId),
      other: sqlJobs(open(), newId),
      tasks: sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' })),
      sql,
    };
  });
};

describeOnEngines('the job store', suite);
describePooled('the job store', suite);
