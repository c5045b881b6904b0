import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

export type AttentionReason =
  | 'unknown_status'
  | 'unknown_outcome'
  | 'unknown_upstream_task'
  | 'no_result'
  | 'result_unavailable'
  | 'overrun'
  | 'hard_deadline';

/** Asks a person to decide over a task. Its hold stays, and polling goes on. */
export async function raiseAttention(
  { store, clock, count, log }: Pick<Deps, 'store' | 'clock' | 'count' | 'log'>,
  task: Pick<Task, 'id'>,
  reason: AttentionReason,
  detail: string,
): Promise<void> {
  if (!(await store.raise({ taskId: task.id, reason, detail, since: clock.now() }))) return;
  count.attention(reason);
  log.error({ taskId: task.id, reason, detail }, 'a task needs attention');
}
