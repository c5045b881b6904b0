import type { Deps } from '../deps.ts';

export const ATTENTION_REASONS = [
  'unknown_status',
  'unknown_outcome',
  'unknown_upstream_task',
  'no_result',
  'result_unavailable',
  'overrun',
  'hard_deadline',
] as const;
export type AttentionReason = (typeof ATTENTION_REASONS)[number];

/** Asks a person to decide over a task. Its hold stays, and polling goes on. */
export async function raiseAttention(
  { store, clock, count, log }: Deps,
  task: { readonly id: string },
  reason: AttentionReason,
  detail: string,
): Promise<void> {
  if (!(await store.raise({ taskId: task.id, reason, detail, since: clock.now() }))) return;
  count.attention(reason);
  // The detail may quote the upstream, so it stands in the queue and in no line.
  log.error({ taskId: task.id, reason }, 'a task needs attention');
}
