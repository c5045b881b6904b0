import { defineCommand, readSingleId } from '../command.ts';
import { toJobJson } from '../format/job-record.ts';

export const jobShow = defineCommand({
  summary: 'show an asynchronous call with its events',
  words: 'ID',
  options: {},
  example: 'job show job_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => ({
    answer: toJobJson((await services.tasks.showJob({ jobId: readSingleId(words, 'job') })).record),
  }),
});
