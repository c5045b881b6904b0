import { Problem } from '@reelgate/platform/problem';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { endTask } from '../ends/end-task.ts';
import { taskNotFound } from '../task-refusals.ts';

export type Resolution = 'completed' | 'failed' | 'retry';

/** What a person decided, who, and why; an empty reason: none was given. */
export interface Decision {
  readonly resolution: Resolution;
  readonly actor: string;
  readonly reason: string;
}

const BY_OPERATOR = { code: 'operator', message: 'the task was ended by the operator; nothing was charged' };

const UNFINISHED: Readonly<Record<Resolution, (deps: Deps, task: Task) => Promise<void>>> = {
  completed: async (deps, task) => {
    await endTask(deps, task, { state: 'completed', at: deps.clock.now(), usage: task.usage });
  },
  failed: async (deps, task) => {
    await endTask(deps, task, { state: 'failed', at: deps.clock.now(), failure: BY_OPERATOR });
  },
  retry: (deps, task) => deps.store.makeDue(task.id, deps.clock.now()),
};

/** For a finished task only its money is open. */
const FINISHED: Readonly<Record<Resolution, (deps: Deps, task: Task) => Promise<void>>> = {
  completed: async (deps, task) => {
    await deps.billing.settle(task.id, task.usage, { confirmed: true, channel: task.mapping?.channel });
  },
  failed: (deps, task) => deps.billing.releaseHold(task.id),
  retry: async (deps, task) => {
    if ((await deps.billing.settle(task.id, task.usage, { channel: task.mapping?.channel })) === 'deferred')
      throw new Problem({
        kind: 'conflict',
        reason: 'still_deferred',
        message: 'the usage is still far above the hold; decide as completed or failed',
      });
  },
};

export const notWaiting = (): Problem =>
  new Problem({
    kind: 'conflict',
    reason: 'not_in_attention',
    message: 'this task does not wait for a decision; `attention list` shows the tasks that do',
  });

/** Carries out a person's decision, and records who made it. */
export async function resolveAttention(
  deps: Deps,
  taskId: string,
  { resolution, actor, reason }: Decision,
): Promise<Task> {
  const task = await deps.store.find(taskId);
  if (task === undefined) throw taskNotFound();
  if (!(await deps.store.waits(taskId))) throw notWaiting();
  // Money comes first, because nothing would retry it later. Repeating it is harmless.
  if (isTerminal(task.state)) await FINISHED[resolution](deps, task);
  const by = { resolution, actor, why: reason, at: deps.clock.now() };
  if (!(await deps.store.resolve(taskId, by))) throw notWaiting();
  if (!isTerminal(task.state)) await UNFINISHED[resolution](deps, task);
  return (await deps.store.find(taskId)) ?? task;
}
