import type { Span } from '@reelgate/platform/trace/trace';
import type { Task, TaskRef, TasksClient } from '../clients/tasks-client.ts';
import type { TaskReader } from './read-task.ts';

/** A cancel calls the generator too. */
const DEADLINE_MS = 60_000;

export interface EndTaskDeps {
  readonly tasks: TasksClient;
  readonly reader: TaskReader;
}

interface EndCall {
  readonly requestId: string;
  readonly span: Span;
}

/** Cancels a queued task. The tasks service decides whether it may. */
export async function cancelTask({ tasks, reader }: EndTaskDeps, ref: TaskRef, call: EndCall): Promise<Task> {
  try {
    const { task } = await tasks.cancelTask({ ...ref }, { timeoutMs: DEADLINE_MS, ...call });
    if (task === undefined) throw new Error('the tasks service answered without a task');
    return task;
  } finally {
    reader.forget(ref);
  }
}

/** Deletes a finished task. The tasks service decides whether it may. */
export async function deleteTask({ tasks, reader }: EndTaskDeps, ref: TaskRef, call: EndCall): Promise<void> {
  try {
    await tasks.deleteTask({ ...ref }, { timeoutMs: DEADLINE_MS, ...call });
  } finally {
    reader.forget(ref);
  }
}
