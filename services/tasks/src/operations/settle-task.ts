import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';
import { raiseAttention } from './raise-attention.ts';

/** Makes certain that the money of a finished task moved. Billing does it once, however often it is asked. */
export async function settleTask(deps: Deps, task: Task): Promise<void> {
  const settled = task.state === 'completed' ? await deps.billing.settle(task.id, task.usage) : await release(deps, task);
  if (settled === 'deferred') {
    await raiseAttention(deps, task, 'overrun', 'the upstream reports far more usage than was held; nothing was charged');
  }
  await deps.store.markSettled(task.id, deps.clock.now());
}

async function release(deps: Deps, task: Task): Promise<'settled'> {
  await deps.billing.releaseHold(task.id);
  return 'settled';
}
