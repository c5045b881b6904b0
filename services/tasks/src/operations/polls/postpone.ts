import { errorBackoff, pollInterval } from '../../domain/poll-interval.ts';
import type { Doubt, Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { raiseAttention } from '../attention/raise-attention.ts';

const POLLS_TO_ATTENTION = 5;

/**
 * Nothing was learnt: the task stands as it did, and is looked at again later. Where the look spoke against the task (`doubt`) a person
 * is told at the fifth in a row that did so, and at every later one.
 */
export async function postpone(
  deps: Pick<Deps, 'store' | 'clock' | 'pollPlan' | 'count' | 'log'>,
  task: Task,
  error: string,
  doubt?: Doubt['reason'],
): Promise<void> {
  const errors = task.pollErrors + 1;
  const at = deps.clock.now();
  const doubted =
    doubt === undefined
      ? task.doubt
      : { reason: doubt, polls: task.doubt?.reason === doubt ? task.doubt.polls + 1 : 1 };
  await deps.store.progress(
    task.id,
    task.state,
    {
      state: task.state,
      upstreamStatus: task.upstreamStatus,
      unrecognised: task.unrecognised,
      progress: task.progress,
      pollErrors: errors,
      doubt: doubted,
      at,
      wasDueAt: task.nextPollAt,
      nextPollAt: at + errorBackoff(deps.pollPlan, errors),
    },
    errors === 1 ? { type: 'look_failed', detail: { error } } : undefined,
  );
  if (doubt !== undefined && (doubted?.polls ?? 0) >= POLLS_TO_ATTENTION)
    await raiseAttention(deps, task, doubt, error);
}

/** Something of our own had no time for the task: nothing speaks against it, and it is looked at again as if nothing had been asked. */
export async function waitOn(deps: Pick<Deps, 'store' | 'clock' | 'pollPlan' | 'chance'>, task: Task): Promise<void> {
  const at = deps.clock.now();
  await deps.store.progress(task.id, task.state, {
    state: task.state,
    upstreamStatus: task.upstreamStatus,
    unrecognised: task.unrecognised,
    progress: task.progress,
    pollErrors: task.pollErrors,
    doubt: task.doubt,
    at,
    wasDueAt: task.nextPollAt,
    nextPollAt: at + pollInterval(deps.pollPlan, at - task.createdAt, deps.chance()),
  });
}
