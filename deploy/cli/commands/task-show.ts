import { systemClock } from '@reelgate/platform/clock';
import { WrongCall, defineCommand } from '../command.ts';
import { readMoney } from '../format/task-money.ts';
import { toTaskJson } from '../format/task-record.ts';
import { formatHistory } from '../format/task-history.ts';

export const taskShow = defineCommand({
  summary: 'tell the life of tasks: each step with its time, the gaps, and what an open task waits for',
  words: 'ID…',
  options: {},
  example: 'task show task_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => {
    if (words.length === 0) throw new WrongCall('name a task');
    const shown = await Promise.all(
      words.map(async (taskId) => {
        const { record } = await services.tasks.showTask({ taskId });
        if (record === undefined) return { answer: {}, text: '' };
        const money = await readMoney(services, record);
        return { answer: toTaskJson(record, money), text: formatHistory(record, money, systemClock.now()) };
      }),
    );
    const answers = shown.map(({ answer }) => answer);
    return {
      answer: answers.length === 1 ? answers[0] : answers,
      text: shown.map(({ text }) => text).join('\n\n'),
    };
  },
});
