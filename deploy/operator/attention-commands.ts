import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { WrongCall, noIds, oneId } from './command.ts';
import type { Command } from './command.ts';
import { shownJob } from './job-commands.ts';
import { shownTask } from './task-record.ts';
import { isoTime } from './times.ts';

const RESOLUTIONS: Readonly<Record<string, Resolution>> = {
  completed: Resolution.COMPLETED,
  failed: Resolution.FAILED,
  retry: Resolution.RETRY,
};

export const attentionCommands: Readonly<Record<string, Command>> = {
  'attention list': {
    usage: '',
    run: async ({ tasks }, words) => {
      noIds(words);
      const { items } = await tasks.listAttention({});
      return {
        answer: items.map(({ taskId, since, reason, detail }) => ({
          id: taskId,
          since: isoTime(since),
          reason,
          detail,
        })),
      };
    },
  },
  'attention resolve': {
    usage: 'ID --as completed, failed or retry',
    run: async ({ tasks }, words) => {
      const resolution = RESOLUTIONS[words.options.as ?? ''];
      if (resolution === undefined) throw new WrongCall('say how, with --as completed, failed or retry');
      const { record, jobRecord } = await tasks.resolveAttention({
        taskId: oneId(words, 'task'),
        resolution,
        actor: words.options.actor ?? '',
      });
      return { answer: record === undefined ? shownJob(jobRecord) : shownTask(record, undefined) };
    },
  },
};
