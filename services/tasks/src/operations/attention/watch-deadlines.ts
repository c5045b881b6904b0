import { inTask } from '../tracing/work-span.ts';
import type { Deps } from '../deps.ts';
import { raiseAttention } from '../ends/raise-attention.ts';

const BATCH_MAX = 200;

export interface Deadlines {
  readonly softDeadlineMs: number;
  readonly hardDeadlineMs: number;
}

/**
 * One pass over unfinished tasks that are late. At the soft deadline the operator is alerted, once. At the hard
 * deadline a person must decide, and the task leaves the in-flight counters. The hold stays, and polling goes on.
 * Returns how many tasks passed a deadline.
 */
export async function watchDeadlines(deps: Deps, { softDeadlineMs, hardDeadlineMs }: Deadlines): Promise<number> {
  const { store, clock, count, log } = deps;
  const now = clock.now();
  let passed = 0;
  for (const { id, state, mapping, requestId } of await store.listLate('soft', now - softDeadlineMs, BATCH_MAX)) {
    if (!(await store.passDeadline(id, 'soft', now))) continue;
    passed += 1;
    count.softDeadline();
    log.warn(
      { taskId: id, requestId, state, channel: mapping?.channel },
      'an unfinished task is past the soft deadline',
    );
  }
  for (const { id } of await store.listLate('hard', now - hardDeadlineMs, BATCH_MAX)) {
    if (await store.passDeadline(id, 'hard', now)) passed += 1;
  }
  for (const task of await store.listOverdue(BATCH_MAX))
    await inTask(task, () =>
      raiseAttention(deps, task, 'hard_deadline', 'the task is past the hard deadline and is not finished'),
    );
  return passed;
}
