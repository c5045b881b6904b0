import { nameFailure } from '../../domain/failure-cause.ts';
import type { Task, TaskIdentity } from '../../domain/task.ts';
import type { Finish, PhaseTimes } from '../../store/finish.ts';
import { writeTaskSpan } from '../tracing/lifetime-span.ts';
import { inWorkSpan, traceToPassOn } from '../tracing/work-span.ts';
import type { Deps } from '../deps.ts';
import type { EndOptions } from '../../clients/billing.ts';
import type { Span } from '@reelgate/platform/trace/trace';
import { isMedia } from '../../domain/order.ts';
import type { Order } from '../../domain/order.ts';
import { raiseAttention } from './raise-attention.ts';

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

/**
 * Settles the money of a finished task. Billing settles once, however often it is called. The caller marks the task
 * afterwards.
 */
export async function settleTask(deps: Deps, task: Task, span: Span): Promise<void> {
  const settled =
    task.state === 'completed'
      ? await deps.billing.settle(task.id, task.usage, { span, ...describeWork(task) })
      : await release(deps, task, span);
  if (settled === 'deferred') {
    await raiseAttention(deps, task, 'overrun', 'the upstream reports usage far above the hold; nothing was charged');
  }
  deps.log.info({ taskId: task.id, state: task.state, outcome: settled }, 'a task was settled');
}

/** Returns the channel that did the work of a task, and the charge that the upstream reports. */
export function describeWork({
  mapping,
  upstreamCostMicroUsd,
}: Task): Pick<EndOptions, 'channel' | 'upstreamCostMicroUsd'> {
  return { channel: mapping?.channel, upstreamCostMicroUsd };
}

async function release(deps: Deps, task: Task, span: Span): Promise<'settled'> {
  const { id, accountId } = task;
  if (task.admission === 'refused') await releaseRefused(deps, { id, accountId }, span);
  else await deps.billing.releaseHold(task.id, { span, ...describeWork(task) });
  return 'settled';
}

/**
 * Releases the hold of a refused create, then removes its staged media. Without its order, as the database has it, they
 * are removed in any case. Repeating it is harmless.
 */
export async function releaseRefused(
  { billing, media }: Deps,
  { id, accountId, order }: TaskIdentity & { readonly order?: Order },
  span: Span,
): Promise<void> {
  await billing.releaseHold(id, { span });
  // A regeneration stages the media of its source.
  if (order === undefined || order.sourceTaskId !== undefined || order.content.some(isMedia))
    await media.removeStaged({ accountId, taskId: id }, { span });
}
