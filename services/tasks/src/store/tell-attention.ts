import type { JobFinishStore } from './job-store.ts';
import type { AttentionStore, FinishStore } from './task-store.ts';

type Tell = (taskId: string) => void;

/** Wraps a store: listeners are notified when a task begins or ceases to wait for a person. */
export function tellAttention<S extends AttentionStore & FinishStore>(store: S, tell: Tell): S {
  return {
    ...store,
    raise: async (item) => {
      const raised = await store.raise(item);
      if (raised) tell(item.taskId);
      return raised;
    },
    resolve: async (taskId, by) => {
      const hasWaited = await store.resolve(taskId, by);
      if (hasWaited) tell(taskId);
      return hasWaited;
    },
    finish: async (taskId, finish) => {
      const times = await store.finish(taskId, finish);
      if (times?.hasWaited === true) tell(taskId);
      return times;
    },
  };
}

/** Wraps a store: listeners are notified when a job begins to wait for a person. */
export function tellJobAttention<S extends JobFinishStore>(store: S, tell: Tell): S {
  return {
    ...store,
    finishJob: async (lease, finished) => {
      const isFinished = await store.finishJob(lease, finished);
      if (isFinished && finished.attention !== undefined) tell(lease.jobId);
      return isFinished;
    },
  };
}
