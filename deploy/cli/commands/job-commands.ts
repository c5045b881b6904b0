import { JobRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { LIST_OPTIONS, listQuery } from '../format/list-options.ts';
import { listColumns, toListOutcome } from '../format/table.ts';

const COLUMNS = listColumns(JobRecordSchema, [
  'job.id',
  'job.state',
  'job.createdAt',
  { field: 'endpoint', shrinks: true },
  { field: 'model', shrinks: true },
  { field: 'job.answer.statusCode', title: 'STATUS' },
  { field: 'job.accountId', isWide: true },
  { field: 'tokenId', isWide: true },
  { field: 'starts', isWide: true },
  { field: 'job.completedAt', isWide: true },
  { field: 'job.failure.code', title: 'ERROR', shrinks: true },
]);

export const jobList = defineCommand({
  summary: 'list asynchronous calls, newest first',
  words: '',
  options: LIST_OPTIONS,
  example: 'job list --state in_progress',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const answer = await services.tasks.listJobRecords(listQuery(options));
    return toListOutcome(answer, answer.records, COLUMNS, { terminal, options });
  },
});

export const jobShow = defineCommand({
  summary: 'show an asynchronous call with its events',
  words: 'ID',
  options: {},
  example: 'job show job_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => ({
    answer: await services.tasks.showJob({ jobId: readSingleId(words, 'job') }),
  }),
});
