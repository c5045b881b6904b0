import { nameFailure } from '../../domain/failure-cause.ts';
import type { Task } from '../../domain/task.ts';
import type { Finish, PhaseTimes } from '../../store/finish.ts';
import { writeTaskSpan } from '../tracing/lifetime-span.ts';
import { inWorkSpan, traceToPassOn } from '../tracing/work-span.ts';
import type { Deps } from '../deps.ts';

const FINISH = { name: 'finish' };

/**
 * Ends a task, once, and returns whether this call ended it. The store writes the event with the row and closes the
 * attention. The announcements only spare waiting clients time.
 */
export function endTask(deps: Deps, task: Task, finish: Finish): Promise<boolean> {
  return endTaskBy(deps, task, finish, (traced) => deps.store.finish(task.id, traced));
}

/** Ends a task that waits for a channel, unless it is its turn meanwhile. */
export function endWaiting(deps: Deps, task: Task, finish: Finish): Promise<boolean> {
  return endTaskBy(deps, task, finish, (traced) => deps.store.finishWaiting(task.id, traced));
}

async function endTaskBy(
  deps: Deps,
  task: Task,
  finish: Finish,
  write: (finish: Finish) => Promise<PhaseTimes | undefined>,
): Promise<boolean> {
  const times = await inWorkSpan(deps, task, FINISH, ({ carrier }) =>
    write(carrier === undefined ? finish : { ...finish, trace: carrier }),
  );
  if (times === undefined) return false;
  const { id, accountId } = task;
  deps.announce({ id, accountId, state: finish.state, trace: traceToPassOn(deps, task) });
  deps.count.finished(task, finish, times);
  const code = nameFailure(finish.failure?.code);
  deps.log.info({ taskId: task.id, state: finish.state, code, channel: task.mapping?.channel }, 'a task ended');
  deps.wake.outbox();
  deps.wake.events();
  deps.wake.queue(task.tokenId);
  await writeTaskSpan(deps, task, { state: finish.state, at: finish.at, code });
  return true;
}
