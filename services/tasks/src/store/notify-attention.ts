import type { JobFinishStore } from './job-store.ts';
import type { AttentionStore, FinishStore } from './task-store.ts';

type Notify = (taskId: string) => void;

/** Wraps a store: listeners are notified when a task begins or ceases to wait for a person. */
export function notifyAttention<S extends AttentionStore & FinishStore>(store: S, notify: Notify): S {
  return {
    ...store,
    raise: async (item) => {
      const raised = await store.raise(item);
      if (raised) notify(item.taskId);
      return raised;
    },
    resolve: async (taskId, by) => {
      const hasWaited = await store.resolve(taskId, by);
      if (hasWaited) notify(taskId);
      return hasWaited;
    },
    finish: async (taskId, finish) => {
      const times = await store.finish(taskId, finish);
      if (times?.hasWaited === true) notify(taskId);
      return times;
    },
  };
}

/** Wraps a store: listeners are notified when a job begins to wait for a person. */
export function notifyJobAttention<S extends JobFinishStore>(store: S, notify: Notify): S {
  return {
    ...store,
    finishJob: async (lease, finished) => {
      const isFinished = await store.finishJob(lease, finished);
      if (isFinished && finished.attention !== undefined) notify(lease.jobId);
      return isFinished;
    },
  };
}
