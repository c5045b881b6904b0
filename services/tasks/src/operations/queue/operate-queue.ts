import { QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace } from '@reelgate/proto/tasks/v1/queue';
import type { QueueClass } from '../../domain/lane.ts';
import type { Decision } from '../../store/operator-store.ts';
import type { QueueSubject } from '../../store/queue-store.ts';
import type { Deps } from '../deps.ts';
import { endWaiting } from '../ends/end-task.ts';
import type { OperatorDeps } from '../operators/pause-channel.ts';
import { modelNotServed, taskNotWaiting } from '../task-refusals.ts';
import { describePlace, findQueued } from './list-queue.ts';

const CANCELLED = { code: 'cancelled', message: 'an operator cancelled the task before it began' };
/**
 * The tasks that one call ends, and the time in milliseconds after which it stops, so that its caller gets an answer.
 */
const CANCELLED_MAX = 1000;
const CANCEL_MS_MAX = 5000;

/** The author of a decision and its reason. */
export type By = Omit<Decision, 'at'>;

/** Sets the share of an account in every lane. Returns the time at which the weight ends. */
export async function setQueueWeight(
  deps: Deps,
  {
    accountId,
    weight,
    lastsMs,
  }: { readonly accountId: string; readonly weight: number; readonly lastsMs?: number | undefined },
  by: By,
): Promise<number | undefined> {
  const at = deps.clock.now();
  const until = lastsMs === undefined ? undefined : at + lastsMs;
  await deps.store.setQueueWeight(accountId, { weight, until }, { ...by, at });
  deps.log.warn({ accountId, weight, actor: by.actor }, 'an account has another weight in the queue');
  deps.wake.queue();
  return until;
}

/** Withholds the turns of an account or a model until it is released. */
export async function holdQueue(deps: Deps, subject: QueueSubject, by: By): Promise<void> {
  if ('model' in subject && !isServed(deps, subject.model)) throw modelNotServed();
  if (await deps.store.holdQueue(subject, { ...by, at: deps.clock.now() }))
    deps.log.warn({ ...subject, actor: by.actor }, 'a part of the queue is held');
}

function isServed({ channels }: Deps, model: string): boolean {
  return channels.all().some(({ channel }) => Object.hasOwn(channel.settings.models, model));
}

/** Releases an account or a model, so that it has turns again. */
export async function releaseQueue(deps: Deps, subject: QueueSubject, by: By): Promise<void> {
  if (!(await deps.store.releaseQueue(subject, { ...by, at: deps.clock.now() }))) return;
  deps.log.warn({ ...subject, actor: by.actor }, 'a part of the queue is released');
  deps.wake.queue();
}

/** Lets a task wait in another class, or before the others of its token. Returns its new place. */
export async function moveQueuedTask(
  deps: Deps,
  { taskId, ...to }: { readonly taskId: string; readonly class?: QueueClass | undefined; readonly first: boolean },
  by: By,
): Promise<QueuePlace | undefined> {
  const lane = await deps.store.movePlace(taskId, to, { ...by, at: deps.clock.now() });
  if (lane === undefined) {
    await findQueued(deps, taskId);
    throw taskNotWaiting();
  }
  deps.log.warn({ taskId, ...to, actor: by.actor }, 'a task has another place in the queue');
  const place = await describePlace(deps, taskId);
  if (place?.waitsFor !== QueueWait.SCHEDULED) deps.queue.lanes.add(lane);
  deps.wake.queue();
  return place;
}

/** One task, or all that wait of an account or of one of its tokens. */
export type CancelScope =
  { readonly taskId: string } | { readonly accountId: string; readonly tokenId?: string | undefined };

/**
 * Ends tasks that wait, for five seconds at most. The act is written first, because each task ends in a transaction of its
 * own, and one that has its turn meanwhile goes on.
 */
export async function cancelQueued(
  deps: Deps,
  { operators }: OperatorDeps,
  which: CancelScope,
  { actor, reason, signal }: By & { readonly signal: AbortSignal },
): Promise<{ readonly cancelled: number; readonly hasMore: boolean }> {
  const { store, clock, log } = deps;
  const found =
    'taskId' in which
      ? [(await findQueued(deps, which.taskId)).task]
      : await store.listWaitingTasks(which, CANCELLED_MAX + 1);
  const tasks = found.slice(0, CANCELLED_MAX);
  const result = { cancelled: 0, hasMore: found.length > tasks.length };
  if (tasks.length === 0) return result;
  const subject = 'taskId' in which ? which.taskId : which.accountId;
  const detail = { ...which, tasks: tasks.length };
  await operators.addAct({ at: clock.now(), actor, action: 'queue_cancelled', subject, reason, detail });
  log.warn({ ...detail, actor }, 'tasks are cancelled in the queue');
  const begunAt = clock.now();
  for (const task of tasks) {
    signal.throwIfAborted();
    const at = clock.now();
    if (at - begunAt >= CANCEL_MS_MAX) return { ...result, hasMore: true };
    if (await endWaiting(deps, task, { state: 'failed', at, failure: CANCELLED, causedBy: 'us' }))
      result.cancelled += 1;
  }
  return result;
}
