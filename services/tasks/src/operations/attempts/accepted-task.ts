import type { Mapping, Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';

export interface Acceptance {
  readonly mapping: Required<Mapping>;
  readonly at: number;
  readonly nextPollAt: number;
}

/**
 * The task as its acceptance has written it, without its staged media. It is not read again: before its acceptance,
 * only its create changes it.
 */
export function toAcceptedTask(task: NewTask, { mapping, at, nextPollAt }: Acceptance): Task {
  const { id, accountId, tokenId, order, seconds, createdAt, requestId, trace, traceParent } = task;
  return {
    id,
    accountId,
    tokenId,
    order,
    admission: 'accepted',
    state: 'queued',
    unrecognised: false,
    progress: 0,
    createdAt,
    updatedAt: at,
    mapping,
    seconds,
    nextPollAt,
    pollErrors: 0,
    requestId,
    trace,
    traceParent,
    polls: 0,
    pollSpans: 0,
    resumed: false,
  };
}
