import { Problem } from '@reelgate/platform/problem';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import { pollAfterMs } from '../reads/read-tasks.ts';

/** The stored video of a completed task. */
export interface FinishedVideo {
  readonly taskId: string;
  readonly object: string;
  readonly bytes: number;
  readonly mediaType: string;
  /** Milliseconds since 1970; undefined: it has no end. */
  readonly expiresAt: number | undefined;
}

/** The video of a task, or the refusal that the public content route gives. */
export function requireFinishedVideo(task: Task, now: number): FinishedVideo {
  const { id, state, result, expiresAt, order } = task;
  if (!isTerminal(state))
    throw notCompleted(`the task is ${state}; it has bytes only once it is completed`, pollAfterMs(task, now));
  if (result === undefined) throw notCompleted(`the task is ${state} and has no result`);
  if (expiresAt !== undefined && expiresAt <= now) throw resultExpired();
  if (result.object === undefined || result.object === '') throw noBytes(order.kind);
  const { object, bytes = 0, mediaType = 'video/mp4' } = result;
  return { taskId: id, object, bytes, mediaType, expiresAt };
}

export function resultExpired(): Problem {
  return new Problem({
    kind: 'gone',
    reason: 'result_expired',
    message: 'the result has expired: expires_at has passed',
  });
}

function notCompleted(message: string, retryAfterMs?: number): Problem {
  return new Problem({ kind: 'conflict', reason: 'task_not_completed', message, retryAfterMs });
}

function noBytes(kind: string): Problem {
  return new Problem({
    kind: 'invalid',
    reason: 'invalid_request',
    field: 'task_id',
    message: `must name a task with a video; the result of a ${kind} task is a prompt, which GetTask returns`,
  });
}
