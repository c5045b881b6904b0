import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { JobRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest | undefined;
afterEach(async () => {
  await console?.stop();
  console = undefined;
});

const record = (id: string) =>
  create(JobRecordSchema, {
    job: {
      id,
      accountId: 'demo',
      state: TaskState.FAILED,
      createdAt: timestampFromMs(5),
      completedAt: timestampFromMs(9),
      failure: { code: 'upstream_failed', message: 'the upstream broke off' },
    },
    tokenId: 'token_1',
    endpoint: 'chat',
    model: 'gem',
    starts: 2,
    events: [{ at: timestampFromMs(6), type: 'started', detailJson: '{"worker":"one"}' }],
  });
const ROW = {
  accountId: 'demo',
  endpoint: 'chat',
  model: 'gem',
  state: 'failed',
  starts: 2,
  createdAt: 5,
  endedAt: 9,
  failure: { code: 'upstream_failed', message: 'the upstream broke off' },
};

test('jobs come in pages of fifty, and a page names the next one if there is one', async () => {
  const asked: object[] = [];
  const all = Array.from({ length: 60 }, (_, at) => record(`job_${at}`));
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        listJobRecords: async ({ accountId, state, after, limit }) => {
          asked.push({ accountId, state, after });
          const from = all.findIndex(({ job }) => job?.id === after) + 1;
          return { records: all.slice(from, from + limit) };
        },
      },
    },
  });
  const first = await console.as('viewer', 'GET', '/jobs?account=demo&state=failed');
  const second = await console.as('viewer', 'GET', `/jobs?after=${first.json.after}`);

  expect(first.json.jobs).toHaveLength(50);
  expect(first.json.jobs[0]).toEqual({ id: 'job_0', ...ROW });
  expect(second.json.jobs).toMatchObject(Array.from({ length: 10 }, (_, at) => ({ id: `job_${50 + at}` })));
  expect(second.json).not.toHaveProperty('after');
  expect(asked).toEqual([
    { accountId: 'demo', state: TaskState.FAILED, after: '' },
    { accountId: '', state: TaskState.UNSPECIFIED, after: 'job_49' },
  ]);
});

test('a job has its history, and says whether it waits for a person', async () => {
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        showJob: async ({ jobId }) => ({ record: record(jobId) }),
        listAttention: async () => ({ items: [{ taskId: 'task_1' }, { taskId: 'job_1' }] }),
      },
    },
  });

  expect((await console.as('viewer', 'GET', '/jobs/job_1')).json).toEqual({
    job: { id: 'job_1', tokenId: 'token_1', ...ROW },
    history: [{ at: 6, type: 'started', detail: { worker: 'one' } }],
    isInAttention: true,
  });
  expect((await console.as('viewer', 'GET', '/jobs/job_2')).json.isInAttention).toBe(false);
});
