import type { JobRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { WrongCall, noIds, oneId } from './command.ts';
import type { Command } from './command.ts';
import { STATES } from './task-record.ts';
import { isoTime } from './times.ts';

const LIST_LIMIT = 50;

export const jobCommands: Readonly<Record<string, Command>> = {
  'job show': {
    usage: 'ID',
    run: async ({ tasks }, words) => ({
      answer: shownJob((await tasks.showJob({ jobId: oneId(words, 'job') })).record),
    }),
  },
  'job list': {
    usage: '[--account ID] [--state queued, in_progress, completed or failed] [--limit N] [--after JOB_ID]',
    run: async ({ tasks }, words) => {
      noIds(words);
      const { account = '', state, limit, after = '' } = words.options;
      if (state !== undefined && !Object.hasOwn(STATES, state))
        throw new WrongCall(`${state} is no state; there are ${Object.keys(STATES).join(', ')}`);
      if (limit !== undefined && !/^[1-9]\d{0,3}$/.test(limit))
        throw new WrongCall('--limit takes a number from 1 to 1000');
      const { records } = await tasks.listJobRecords({
        accountId: account,
        after,
        limit: Number(limit ?? LIST_LIMIT),
        state: state === undefined ? TaskState.UNSPECIFIED : (STATES[state] ?? TaskState.UNSPECIFIED),
      });
      return { answer: records.map(shownJob) };
    },
  },
};

/** A job without a word of what was asked and answered. */
export function shownJob(record: JobRecord | undefined): object {
  if (record?.job === undefined) return {};
  const { job, tokenId, endpoint, model, starts, events } = record;
  return {
    id: job.id,
    account: job.accountId,
    token: tokenId,
    endpoint,
    model,
    state: Object.keys(STATES).find((name) => STATES[name] === job.state),
    starts,
    created_at: isoTime(job.createdAt),
    completed_at: isoTime(job.completedAt),
    status_code: job.answer?.statusCode,
    bytes: job.answer === undefined ? undefined : Number(job.answer.size),
    error: job.failure === undefined ? undefined : { code: job.failure.code, message: job.failure.message },
    ...(events.length === 0
      ? {}
      : {
          events: events.map(({ at, type, detailJson }) => ({
            ...(JSON.parse(detailJson) as object),
            at: isoTime(at),
            type,
          })),
        }),
  };
}
