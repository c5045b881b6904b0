import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';
import { endTask, endWaiting } from './end-task.ts';
import { getTask } from '../reads/read-tasks.ts';
import { notCancellable, pollLimited } from '../task-refusals.ts';
import { waitForPoll } from '../wait-for-poll.ts';

const CANCELLED = { code: 'cancelled', message: 'the task was cancelled before it began' };

/**
 * Ends a queued task if its upstream confirms that it will not do the work. Otherwise the cancel is refused, and
 * polling continues. The upstream is polled first, because our state may be old and several upstreams delete the result
 * if the same call reaches work that has ended.
 */
export async function cancelTask(deps: Deps, accountId: string, taskId: string, signal: AbortSignal): Promise<Task> {
  const task = await getTask(deps, accountId, taskId);
  if (await isWithdrawn(deps, task)) return getTask(deps, accountId, taskId);
  const why = obstacle(task);
  if (why !== undefined) throw notCancellable(why);
  if (!(await isCancelled(deps, task, signal))) {
    await deps.store.makeDue(taskId, deps.clock.now());
    deps.wake.polls(task.mapping?.channel ?? '');
    throw notCancellable('the generator did not confirm the cancellation');
  }
  const ended = await endTask(deps, task, {
    state: 'failed',
    at: deps.clock.now(),
    upstreamStatus: 'cancelled',
    failure: CANCELLED,
    causedBy: 'client',
  });
  const now = await getTask(deps, accountId, taskId);
  if (!ended && now.failure?.code !== CANCELLED.code) throw notCancellable(`this task is ${now.state}`);
  return now;
}

/** Ends a task that still waits for a channel. No upstream knows of it. */
async function isWithdrawn(deps: Deps, task: Task): Promise<boolean> {
  if (task.admission !== 'waiting' || isTerminal(task.state)) return false;
  return endWaiting(deps, task, { state: 'failed', at: deps.clock.now(), failure: CANCELLED, causedBy: 'client' });
}

async function isCancelled(deps: Deps, { mapping }: Task, signal: AbortSignal): Promise<boolean> {
  const runtime = deps.channels.find(mapping?.channel ?? '');
  const upstreamId = mapping?.upstreamId;
  if (runtime === undefined || upstreamId === undefined) return false;
  if (!(await waitForPoll(deps, runtime, signal))) throw pollLimited(runtime.polls.waitMs());
  const polled = await runtime.channel.poll(upstreamId, signal);
  if (!polled.found || polled.report.phase !== 'queued') return false;
  signal.throwIfAborted();
  // The call is not aborted when the client leaves. The deadline of the channel bounds it.
  return runtime.channel.cancel(upstreamId, new AbortController().signal);
}

function obstacle(task: Task): string | undefined {
  if (isTerminal(task.state)) return `this task is ${task.state}`;
  if (task.unrecognised) return 'the generator reports an unknown state for this task';
  if (task.state !== 'queued') return `this task is ${task.state}`;
  if (task.admission !== 'accepted' || task.mapping?.upstreamId === undefined)
    return 'the generator has not confirmed the submission of this task yet';
  return undefined;
}
