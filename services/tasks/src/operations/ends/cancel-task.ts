import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { endTask } from './end-task.ts';
import { getTask } from '../reads/read-tasks.ts';
import { notCancellable, throttled } from '../task-refusals.ts';

const CANCELLED = { code: 'cancelled', message: 'the task was cancelled before it began' };

/**
 * Ends a queued task when its upstream confirms that it will not do the work; otherwise refuses, and the truth comes by polling. The
 * upstream is looked at first: what we know of it may be old, and several upstreams answer the same call with the removal of what has ended.
 */
export async function cancelTask(deps: Deps, accountId: string, taskId: string, signal: AbortSignal): Promise<Task> {
  const task = await getTask(deps, accountId, taskId);
  const why = obstacle(task);
  if (why !== undefined) throw notCancellable(why);
  if (!(await isCancelled(deps, task, signal))) {
    await deps.store.makeDue(taskId, deps.clock.now());
    throw notCancellable('the generator did not confirm it');
  }
  const ended = await endTask(deps, task, {
    state: 'failed',
    at: deps.clock.now(),
    upstreamStatus: 'cancelled',
    failure: CANCELLED,
  });
  const now = await getTask(deps, accountId, taskId);
  if (!ended && now.failure?.code !== CANCELLED.code) throw notCancellable(`it is ${now.state}`);
  return now;
}

async function isCancelled(deps: Deps, { mapping }: Task, signal: AbortSignal): Promise<boolean> {
  const runtime = deps.channels.find(mapping?.channel ?? '');
  const upstreamId = mapping?.upstreamId;
  if (runtime === undefined || upstreamId === undefined) return false;
  if (!runtime.polls.take()) throw throttled(runtime.polls.waitMs());
  const polled = await runtime.channel.poll(upstreamId, signal);
  if (!polled.found || polled.report.phase !== 'queued') return false;
  signal.throwIfAborted();
  // The call runs to its end, within the channel's own deadline.
  return runtime.channel.cancel(upstreamId, new AbortController().signal);
}

function obstacle(task: Task): string | undefined {
  if (isTerminal(task.state)) return `it is ${task.state}`;
  if (task.unrecognised) return 'its state is not known';
  if (task.state !== 'queued') return 'it has begun';
  if (task.admission !== 'accepted' || task.mapping?.upstreamId === undefined)
    return 'its submission is still being looked into';
  return undefined;
}
