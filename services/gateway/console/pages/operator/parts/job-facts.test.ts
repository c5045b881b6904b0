import { expect, test } from '@jest/globals';
import { readJobs, toJobsRequest } from './job-facts.ts';

const record = (id: string) => ({
  job: { id, accountId: 'demo', state: 'TASK_STATE_FAILED' as const },
  ...{ tokenId: 'token_1', endpoint: 'chat', model: 'gem', starts: 2, events: [], requestId: '', traceId: '' },
});
const records = (count: number) => Array.from({ length: count }, (_, at) => record(`job_${at}`));

test('a list of jobs is asked for with the filters of its address', () => {
  expect(toJobsRequest(new URLSearchParams('account= demo&state=failed&after=job_9'))).toEqual({
    ...{ accountId: 'demo', state: 'TASK_STATE_FAILED', after: 'job_9', limit: 51 },
  });
  expect(toJobsRequest(new URLSearchParams())).toEqual({ accountId: '', after: '', limit: 51 });
});

test('jobs come in pages of fifty, and a page names the next one if there is one', () => {
  const [first, last] = [readJobs(records(51)), readJobs(records(50))];

  expect([first.jobs.length, first.after]).toEqual([50, 'job_49']);
  expect([last.jobs.length, last.after]).toEqual([50, undefined]);
  expect(first.jobs[0]).toMatchObject({ id: 'job_0', accountId: 'demo', tokenId: 'token_1', starts: 2 });
});
