import type { JobRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { toJobJson } from '../format/job-record.ts';
import { LIST_OPTIONS, listQuery } from '../format/list-options.ts';
import { toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { stateName } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

const COLUMNS: readonly Column<JobRecord>[] = [
  { title: 'ID', of: ({ job }) => job?.id ?? '' },
  { title: 'STATE', of: ({ job }) => stateName(job?.state) },
  { title: 'CREATED', of: ({ job }) => relativeTime(job?.createdAt) },
  { title: 'ENDPOINT', of: ({ endpoint }) => endpoint, shrinks: true },
  { title: 'MODEL', of: ({ model }) => model, shrinks: true },
  { title: 'STATUS', of: ({ job }) => String(job?.answer?.statusCode ?? '') },
  { title: 'ACCOUNT', of: ({ job }) => job?.accountId ?? '', isWide: true },
  { title: 'TOKEN', of: ({ tokenId }) => tokenId, isWide: true },
  { title: 'STARTS', of: ({ starts }) => String(starts), isWide: true },
  { title: 'CREATED AT', of: ({ job }) => isoTime(job?.createdAt) ?? '', isWide: true },
  { title: 'COMPLETED AT', of: ({ job }) => isoTime(job?.completedAt) ?? '', isWide: true },
  { title: 'ERROR', of: ({ job }) => job?.failure?.code ?? '', shrinks: true },
];

export const jobList = defineCommand({
  summary: 'list asynchronous calls, newest first',
  words: '',
  options: LIST_OPTIONS,
  example: 'job list --state in_progress',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { records } = await services.tasks.listJobRecords(listQuery(options));
    return toListOutcome(records, toJobJson, COLUMNS, { terminal, options });
  },
});

export const jobShow = defineCommand({
  summary: 'show an asynchronous call with its events',
  words: 'ID',
  options: {},
  example: 'job show job_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => ({
    answer: toJobJson((await services.tasks.showJob({ jobId: readSingleId(words, 'job') })).record),
  }),
});
