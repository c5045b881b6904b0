import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { describeOnEngines, describePooled } from '../../../testing/store/describe-on-engines.ts';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { expect, test } from '@jest/globals';
import { toJsonString } from '@bufbuild/protobuf';
import { JobCallSchema } from '@reelgate/proto/tasks/v1/job';
import { jobStoreConformance } from '../../../testing/jobs/job-store-conformance.ts';
import { sqlJobs } from './sql-jobs.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';
import { AT, aCall, aNewJob } from '../../../testing/jobs/new-jobs.ts';

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

const ROOMY = { caps: [{ scope: 'jobs:total', limit: 1000 }] };

describeOnEngines('the next job', (open) => {
  test('each token gets an equal share, with its running jobs counted, and no worker stays idle', async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    const jobs = sqlJobs(sql, newIds(fakeClock()));
    const begin = async (token: string, count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1)
        await jobs.beginJob(
          aNewJob(`job_${token}_${index}`, { ...ROOMY, tokenId: token, createdAt: AT - 100 + index }),
        );
    };
    const takenBy = async (lease: string, limit: number): Promise<string> => {
      const taken = await jobs.leaseJobs({ worker: 'w', lease, now: AT, until: AT + 1000, limit });
      return taken
        .map(({ job }) => job.tokenId)
        .toSorted()
        .join(' ');
    };
    await begin('hog', 20);
    expect(await takenBy('lease_1', 4)).toBe('hog hog hog hog');
    await begin('small', 3);
    await begin('tiny', 1);

    expect(await takenBy('lease_2', 4)).toBe('small small small tiny');
    expect(await takenBy('lease_3', 4)).toBe('hog hog hog hog');
    expect((await takenBy('lease_4', 64)).split(' ')).toHaveLength(12);
  });

  test('each account gets an equal share, however many tokens another one has and however many of its jobs wait', async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    const jobs = sqlJobs(sql, newIds(fakeClock()));
    await insertMany(sql, 2500);
    await jobs.beginJob(aNewJob('job_small', { ...ROOMY, accountId: 'small', createdAt: AT - 1 }));
    const takenBy = async (lease: string, limit: number): Promise<readonly string[]> => {
      const taken = await jobs.leaseJobs({ worker: 'w', lease, now: AT, until: AT + 1000, limit });
      return taken.map(({ job }) => job.accountId).toSorted();
    };

    expect(await takenBy('lease_1', 3)).toEqual(['hog', 'hog', 'hog']);
    expect(await takenBy('lease_2', 2)).toEqual(['hog', 'small']);
  });
});

/** Writes jobs of one account, each of a token of its own. */
async function insertMany(sql: Sql, count: number): Promise<void> {
  await sql.write(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
     INSERT INTO jobs (id, account_id, token_id, models_json, request_id, endpoint, model, repeatable, state, due_at,
       created_at, updated_at)
     SELECT 'job_hog_' || n, 'hog', 'token_' || n, '[]', 'req', 'chat', 'm', 1, 'queued', ${AT} - 10000 + n, 0, 0
     FROM numbers`,
    [],
  );
  await sql.write(`INSERT INTO job_calls (job_id, call_json) SELECT id, $1 FROM jobs`, [
    toJsonString(JobCallSchema, aCall()),
  ]);
}
