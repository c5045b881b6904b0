import { isProblem } from '@reelgate/platform/problem';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { WrongCall, noIds } from './command.ts';
import type { Command } from './command.ts';
import type { Services } from './connect-services.ts';
import { STATES, shownTask } from './task-record.ts';

const LIST_LIMIT = 50;

export const taskCommands: Readonly<Record<string, Command>> = {
  'task show': {
    usage: 'ID…',
    run: async (services, { ids }) => {
      if (ids.length === 0) throw new WrongCall('name a task');
      const shown = await Promise.all(
        ids.map(async (taskId) => withMoney(services, (await services.tasks.showTask({ taskId })).record)),
      );
      return { answer: shown.length === 1 ? shown[0] : shown };
    },
  },
  'task list': {
    usage: '[--account ID] [--state queued, in_progress, completed or failed] [--limit N] [--after TASK_ID]',
    run: async (services, words) => {
      noIds(words);
      const { account = '', state, limit, after = '' } = words.options;
      if (state !== undefined && !Object.hasOwn(STATES, state))
        throw new WrongCall(`${state} is no state; there are ${Object.keys(STATES).join(', ')}`);
      if (limit !== undefined && !/^[1-9]\d{0,3}$/.test(limit))
        throw new WrongCall('--limit takes a number from 1 to 1000');
      const { records } = await services.tasks.listTaskRecords({
        accountId: account,
        after,
        limit: Number(limit ?? LIST_LIMIT),
        state: state === undefined ? TaskState.UNSPECIFIED : (STATES[state] ?? TaskState.UNSPECIFIED),
      });
      return { answer: await Promise.all(records.map((record) => withMoney(services, record))) };
    },
  },
};

async function withMoney({ billing }: Services, record: TaskRecord | undefined): Promise<object> {
  if (record === undefined) return {};
  try {
    return shownTask(record, await billing.getHold({ taskId: record.task?.id ?? '' }));
  } catch (error) {
    if (!isProblem(error) || error.kind !== 'not_found') throw error;
    return shownTask(record, undefined);
  }
}
