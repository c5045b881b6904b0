import type { Task } from '../src/domain/task.ts';
import type { NewTask } from '../src/store/task-store.ts';
import { anOrder } from './orders.ts';

/** An accepted task, with the changes of the test. */
export function aTask(changes: Partial<Task> = {}): Task {
  return {
    id: 'task_1',
    accountId: 'acme',
    tokenId: 'token_1',
    order: anOrder(),
    admission: 'accepted',
    state: 'queued',
    unrecognised: false,
    progress: 0,
    createdAt: 1_000_000,
    updatedAt: 1_000_000,
    mapping: { channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-1' },
    seconds: 5,
    pollErrors: 0,
    polls: 0,
    pollSpans: 0,
    resumed: false,
    ...changes,
  };
}

/** A 768P generation that was completed within the model's output constraints. */
export function aSource(changes: Partial<Task> = {}): Task {
  return aTask({
    id: 'task_source',
    state: 'completed',
    result: { object: 'obj_1', width: 1344, height: 768 },
    ...changes,
  });
}

/** A create before it is written. */
export function aNewTask(id: string, changes: Partial<NewTask> = {}): NewTask {
  return {
    id,
    accountId: 'acme',
    tokenId: 'token_1',
    order: anOrder(),
    seconds: 5,
    createdAt: 1_000_000,
    owner: 'proc_1',
    caps: [
      { scope: 'token:token_1', limit: 20 },
      { scope: 'total', limit: 1000 },
    ],
    ...changes,
  };
}
