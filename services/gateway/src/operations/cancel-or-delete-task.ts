import type { Span } from '@reelgate/platform/trace/trace';
import type { TaskRef, TasksClient } from '../clients/tasks-client.ts';
import type { EndRoute, EndResult } from '../dialects/dialect.ts';
import type { TaskReader } from './read-task.ts';

/** A cancel calls the generator too. */
const DEADLINE_MS = 60_000;

export interface CancelOrDeleteDeps {
  readonly tasks: TasksClient;
  readonly reader: TaskReader;
}

/** Cancels a queued task or deletes a finished one. The tasks service decides whether it may. */
export async function cancelOrDeleteTask(
  { tasks, reader }: CancelOrDeleteDeps,
  ref: TaskRef,
  ends: EndRoute['ends'],
  call: { readonly requestId: string; readonly span: Span },
): Promise<EndResult> {
  const options = { timeoutMs: DEADLINE_MS, ...call };
  try {
    if (ends === 'delete') {
      await tasks.deleteTask({ ...ref }, options);
      return { action: 'deleted', taskId: ref.taskId };
    }
    const { task } = await tasks.cancelTask({ ...ref }, options);
    if (task === undefined) throw new Error('the tasks service answered without a task');
    return { action: 'cancelled', task };
  } finally {
    reader.forget(ref);
  }
}
