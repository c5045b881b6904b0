import type { Deps } from './deps.ts';
import { raiseAttention } from './raise-attention.ts';

const BATCH_MAX = 200;

/** One pass over unfinished tasks past the hard deadline: a person is told, the hold stays, and they are polled on. */
export async function watchDeadlines(deps: Deps, hardDeadlineMs: number): Promise<number> {
  const overdue = await deps.store.overdue(deps.clock.now() - hardDeadlineMs, BATCH_MAX);
  for (const task of overdue) await raiseAttention(deps, task, 'hard_deadline', 'the task is past the hard deadline and has not ended');
  return 0;
}
