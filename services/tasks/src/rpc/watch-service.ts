import type { Clock } from '@reelgate/platform/clock';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { Task as WireTask } from '@reelgate/proto/tasks/v1/task';
import { WatchTaskResponseSchema, WatchTasksResponseSchema } from '@reelgate/proto/tasks/v1/task_service';
import type { TaskService, WatchTaskResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { Task } from '../domain/task.ts';
import { watchTask, watchTasks } from '../operations/watches/watch-tasks.ts';
import type { TaskWatchDeps, TasksWatchDeps } from '../operations/watches/watch-tasks.ts';
import { readTaskFilter } from './request-fields.ts';
import { toWireTask } from '../operations/reads/work-messages.ts';

/** The streams of the service. The watches of one task share its message, which is encoded once for each version. */
export function watchService(deps: TaskWatchDeps & TasksWatchDeps, clock: Clock) {
  const toWire = (task: Task): WireTask => toWireTask(task, clock.now());
  const wireTask = memoizeByTask(toWire);
  const wireVersion = memoizeByTask((task: Task, cursor: string): WatchTaskResponse =>
    toMessage(WatchTaskResponseSchema, { task: toWire(task), cursor }),
  );
  return {
    async *watchTask({ accountId, taskId, cursor }, { signal }) {
      for await (const sent of watchTask(deps, { accountId, taskId, cursor }, signal))
        yield sent.task === undefined ? { cursor: sent.cursor } : wireVersion(sent.task, sent.cursor);
    },
    async *watchTasks(request, { signal }) {
      for await (const { task, cursor } of watchTasks(
        deps,
        { ...readTaskFilter(request), accountId: request.accountId },
        request.cursor,
        signal,
      ))
        yield toMessage(WatchTasksResponseSchema, { task: task && wireTask(task), cursor });
    },
  } satisfies Partial<Implementation<typeof TaskService>>;
}

/** Makes a message once for each version of a task, as long as the version is held anywhere. */
function memoizeByTask<M extends object, A extends readonly unknown[]>(
  make: (task: Task, ...rest: A) => M,
): (task: Task, ...rest: A) => M {
  const made = new WeakMap<Task, M>();
  return (task, ...rest) => {
    const message = made.get(task) ?? make(task, ...rest);
    made.set(task, message);
    return message;
  };
}
