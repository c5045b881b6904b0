import { withTimeout } from '@reelgate/platform/clock';
import type { LostAttempt } from '../../channels/channel.ts';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import type { Task } from '../../domain/task.ts';
import { toAttemptKey } from '../attempts/plan-attempt.ts';
import type { Deps } from '../deps.ts';
import { endTask } from '../ends/end-task.ts';
import { inTask } from '../tracing/work-span.ts';
import { waitForPoll } from '../wait-for-poll.ts';

/** Searches of one channel that run at once. */
const PARALLEL_MAX = 16;
const FIND_TIMEOUT_MS = 20_000;
const RESOLVED_BY_SERVICE = { resolution: 'found', actor: 'service' };
const NEVER_ARRIVED = {
  code: 'never_arrived',
  message: 'the generator never received the order; nothing was charged',
};

/**
 * Asks the upstream for each task by the key of the attempt that got no answer. Existing work is adopted. A task with
 * an attempt that never arrived fails, and its hold is released. Each search takes a poll of the channel. Returns the
 * tasks that are still unknown.
 */
export async function settleByKey(
  deps: Deps,
  runtime: ChannelRuntime,
  tasks: readonly Task[],
): Promise<readonly Task[]> {
  const open: Task[] = [];
  const waiting = tasks.values();
  let isLimited = false;
  const search = async (): Promise<void> => {
    for (const task of waiting) {
      if (!isLimited && !(await waitForPoll(deps, runtime))) isLimited = true;
      const isSettled = !isLimited && (await inTask(task, () => settleTask(deps, runtime, task)));
      if (!isSettled) open.push(task);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL_MAX, tasks.length) }, search));
  return open;
}

/** Returns whether the task is settled, by this search or by anything else. */
async function settleTask(deps: Deps, { channel }: ChannelRuntime, task: Task): Promise<boolean> {
  const lost = await describeLostAttempt(deps, channel.settings, task);
  if (lost === undefined) return false;
  const found = await withTimeout(deps.clock, { ms: FIND_TIMEOUT_MS }, (signal) => channel.find(lost, signal));
  if (found.outcome === 'accepted') return adoptFoundWork(deps, task, found);
  return found.outcome === 'never arrived' && failNeverArrived(deps, task);
}

/** The order never reached the upstream, so it is not charged. */
function failNeverArrived(deps: Deps, task: Task): Promise<boolean> {
  const channel = task.mapping?.channel;
  deps.log.warn({ taskId: task.id, channel }, 'an attempt whose answer was lost never arrived at the upstream');
  return endTask(deps, task, {
    state: 'failed',
    at: deps.clock.now(),
    failure: NEVER_ARRIVED,
    causedBy: 'upstream',
    onlyIfUnknown: true,
  });
}

/** Work that another task has is left alone: a person decides. */
async function adoptFoundWork(
  deps: Deps,
  task: Task,
  { upstreamId }: { readonly upstreamId: string },
): Promise<boolean> {
  const at = deps.clock.now();
  if (!(await deps.store.adopt(task.id, upstreamId, at))) return false;
  await deps.store.resolve(task.id, { ...RESOLVED_BY_SERVICE, at });
  const channel = task.mapping?.channel ?? '';
  deps.log.info({ taskId: task.id, channel }, 'the upstream was asked for a lost answer, and has the work');
  deps.wake.polls(channel);
  return true;
}

/** The attempt that got no answer, as it was sent. Undefined if the channel does not serve the model any more. */
async function describeLostAttempt(
  { store, callbacks }: Deps,
  settings: ChannelRuntime['channel']['settings'],
  { id: taskId, order, createdAt, updatedAt }: Task,
): Promise<LostAttempt | undefined> {
  const attempt = (await store.attempts(taskId)).at(-1);
  const model = settings.models[order.model];
  if (attempt === undefined || attempt.outcome !== 'unknown' || model === undefined) return undefined;
  const named = { taskId, number: attempt.number };
  return {
    key: toAttemptKey(named),
    model,
    callbackUrl: settings.callbacks ? callbacks.buildUrl(named) : undefined,
    extraJson: order.extraJson,
    startedAt: Math.min(createdAt, attempt.startedAt),
    endedAt: attempt.endedAt ?? updatedAt,
  };
}
