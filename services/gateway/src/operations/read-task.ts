import { LRUCache } from 'lru-cache';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task, TaskRef, TasksClient } from '../clients/tasks-client.ts';
import { keyOf } from './task-changes.ts';

const DEADLINE_MS = 10_000;
/** How long an answer stands without an event that says otherwise. */
const FRESH_MS = { running: 1000, final: 600_000, absent: 1000 };
const WEIGHT_MAX = 256 * 1024 * 1024;
const WEIGHT_OF_ONE = 4096;

export interface TaskReader {
  /** A task as its owner may see it, at most a second old; refuses with a Problem where there is none. */
  read(task: TaskRef, requestId: string): Promise<Task>;
  /** Makes the next read ask, and whatever is being asked not be remembered. */
  forget(task: TaskRef): void;
}

type Answer = ({ readonly task: Task } | { readonly absent: Problem }) & {
  readonly at: number;
  readonly freshMs: number;
};

/** Answers a storm of polls from memory: one call for each task, however many ask. */
export function cachedTaskReader(tasks: Pick<TasksClient, 'getTask'>, clock: Clock): TaskReader {
  const answers = new LRUCache<string, Answer>({ maxSize: WEIGHT_MAX, sizeCalculation: weigh });
  const asking = new Map<string, Promise<Task>>();

  const ask = async ({ accountId, taskId }: TaskRef, requestId: string): Promise<Answer> => {
    try {
      const { task } = await tasks.getTask({ accountId, taskId }, { timeoutMs: DEADLINE_MS, requestId });
      if (task === undefined) throw new Error('the tasks service answered without a task');
      return { task, at: clock.now(), freshMs: isFinal(task) ? FRESH_MS.final : FRESH_MS.running };
    } catch (error) {
      if (!isProblem(error) || error.kind !== 'not_found') throw error;
      return { absent: error, at: clock.now(), freshMs: FRESH_MS.absent };
    }
  };

  const start = (ref: TaskRef, requestId: string): Promise<Task> => {
    const key = keyOf(ref);
    const call: Promise<Task> = ask(ref, requestId)
      .then((answer) => {
        if (asking.get(key) === call) answers.set(key, answer);
        return taskOf(answer);
      })
      .finally(() => {
        if (asking.get(key) === call) asking.delete(key);
      });
    asking.set(key, call);
    return call;
  };

  return {
    read: async (ref, requestId) => {
      const remembered = answers.get(keyOf(ref));
      if (remembered !== undefined && isRecent(clock, remembered.at, remembered.freshMs)) return taskOf(remembered);
      return asking.get(keyOf(ref)) ?? start(ref, requestId);
    },
    forget: (ref) => {
      answers.delete(keyOf(ref));
      asking.delete(keyOf(ref));
    },
  };
}

function taskOf(answer: Answer): Task {
  if ('absent' in answer) throw answer.absent;
  return answer.task;
}

/** About the bytes that an answer takes. */
function weigh(answer: Answer): number {
  if ('absent' in answer) return WEIGHT_OF_ONE;
  const texts =
    answer.task.order?.content.reduce((sum, { item }) => sum + (item.case === 'text' ? item.value.length : 0), 0) ?? 0;
  return WEIGHT_OF_ONE + 2 * (texts + (answer.task.result?.prompt.length ?? 0));
}
