import { errorBackoffInWait, hastenInterval, pollInterval } from '../../domain/poll-interval.ts';
import type { Doubt, Task } from '../../domain/task.ts';
import type { Progress } from '../../store/task-store.ts';
import { raiseAttention } from '../ends/raise-attention.ts';
import type { Deps } from '../deps.ts';

const POLLS_TO_ATTENTION = 5;

/** The reason for which a poll brought no report. */
export interface FutilePoll {
  readonly error: string;
  /** The problem with the work that the poll reported. */
  readonly doubt?: Doubt['reason'];
  /** The milliseconds for which the host of the result asks to wait. */
  readonly askedMs?: number | undefined;
  /** The milliseconds for which the upstream of the channel asks for no polls. */
  readonly channelWaitMs?: number | undefined;
}

/**
 * Leaves a task as it is after a poll without a report, and polls it again later. If the poll reported a problem with
 * the work, the fifth such poll in a row, and every later one, asks a person to decide.
 */
export async function postponePoll(
  deps: Deps,
  task: Task,
  { error, doubt, askedMs = 0, channelWaitMs = 0 }: FutilePoll,
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
      ...keepProgress(task),
      pollErrors: errors,
      doubt: doubted,
      at,
      nextPollAt: at + Math.max(askedMs, errorBackoffInWait(deps.pollPlan, errors, channelWaitMs)),
    },
    errors === 1 ? { type: 'look_failed', detail: { error } } : undefined,
  );
  if (doubt !== undefined && (doubted?.polls ?? 0) >= POLLS_TO_ATTENTION)
    await raiseAttention(deps, task, doubt, error);
}

/**
 * Polls a task again at its normal interval, because this service, not the upstream, had no capacity for it. If the
 * address of its result dies soon, it is polled earlier.
 */
export async function pollAsPlanned(deps: Deps, task: Task, urlDiesAt = Infinity): Promise<void> {
  const at = deps.clock.now();
  const interval = pollInterval(deps.pollPlan, at - task.createdAt, deps.chance());
  await deps.store.progress(task.id, task.state, {
    ...keepProgress(task),
    at,
    nextPollAt: at + hastenInterval(interval, urlDiesAt - at),
  });
}

function keepProgress(task: Task): Omit<Progress, 'at' | 'nextPollAt'> {
  return {
    state: task.state,
    upstreamStatus: task.upstreamStatus,
    unrecognised: task.unrecognised,
    progress: task.progress,
    pollErrors: task.pollErrors,
    doubt: task.doubt,
    wasDueAt: task.nextPollAt,
    pollSpans: task.pollSpans,
  };
}
