import { WrongCall, defineCommand } from '../command.ts';
import { moneyOf } from '../format/task-money.ts';
import { shownTask } from '../format/task-record.ts';

export const taskShow = defineCommand({
  summary: 'show tasks with their attempts, events and money',
  words: 'ID…',
  options: {},
  example: 'task show task_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => {
    if (words.length === 0) throw new WrongCall('name a task');
    const shown = await Promise.all(
      words.map(async (taskId) => {
        const { record } = await services.tasks.showTask({ taskId });
        return record === undefined ? {} : shownTask(record, await moneyOf(services, record));
      }),
    );
    return { answer: shown.length === 1 ? shown[0] : shown };
  },
});
