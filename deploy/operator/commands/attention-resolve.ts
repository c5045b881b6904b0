import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { ACTOR_OPTION, actorOf } from '../actor.ts';
import { defineCommand, oneId } from '../command.ts';
import { shownJob } from '../format/job-record.ts';
import { shownTask } from '../format/task-record.ts';

const RESOLUTIONS: Readonly<Record<string, Resolution>> = {
  completed: Resolution.COMPLETED,
  failed: Resolution.FAILED,
  retry: Resolution.RETRY,
};

export const attentionResolve = defineCommand({
  summary: 'decide the outcome of a task or job',
  words: 'ID',
  options: {
    as: { value: 'OUTCOME', means: 'the decision', needed: true, choices: Object.keys(RESOLUTIONS) },
    reason: { value: 'TEXT', means: 'why, for the record' },
    actor: ACTOR_OPTION,
  },
  example: 'attention resolve task_06f2k3h8v0s7m1q9c4x5b2n6d0 --as failed',
  run: async ({ services, words, options, environment }) => {
    const { record, jobRecord } = await services.tasks.resolveAttention({
      taskId: oneId(words, 'task'),
      resolution: RESOLUTIONS[options.as ?? ''] ?? Resolution.UNSPECIFIED,
      reason: options.reason ?? '',
      actor: actorOf(options.actor, environment),
    });
    return { answer: record === undefined ? shownJob(jobRecord) : shownTask(record, undefined) };
  },
});
