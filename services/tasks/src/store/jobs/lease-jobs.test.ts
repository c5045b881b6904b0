import path from 'node:path';
import { expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { AT, aNewJob } from '../../../testing/jobs/new-jobs.ts';
import { sqlJobs } from './sql-jobs.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
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
});
