import { recordMsMax } from './limits.ts';
import type { TaskEnd, Script } from './steering/script.ts';
import type { Order } from './vendor-order.ts';
import type { PictureOrder } from './render/picture-order.ts';

/** The state of a task's video. The task succeeds only once the video is ready. */
export type Picture =
  | { readonly state: 'unneeded' }
  | { readonly state: 'awaited'; readonly order: PictureOrder }
  | { readonly state: 'ready'; readonly order: PictureOrder; readonly at: number }
  | { readonly state: 'broken'; readonly at: number };

/** The stored facts of a task. Its status is not stored: `findPhase` derives it from these facts and the time. */
export type Task = {
  readonly id: string;
  readonly order: Order;
  readonly script: Script;
  readonly createdAt: number;
  readonly picture: Picture;
  readonly cancelledAt: number | undefined;
  /** The number of reads that had the fault that its script asks for. */
  readonly reads: number;
  /** The last status that was sent to its callback address, undefined if there was none. */
  readonly sentStatus?: string;
};

export type Phase = { readonly status: string; readonly since: number };

/** The status of a task at a time: a pure function of the task's facts and the time. */
export function findPhase(task: Task, now: number): Phase {
  return planPhases(task).findLast((phase) => phase.since <= now) ?? { status: 'queued', since: task.createdAt };
}

/** The time of the task's next change, if it is known. */
export function nextChangeAt(task: Task, now: number): number | undefined {
  return planPhases(task).find((phase) => phase.since > now)?.since;
}

export function isFinished({ status }: Phase): boolean {
  return ['succeeded', 'failed', 'cancelled', 'expired'].includes(status);
}

/** Reports whether the vendor still shows the task, which it does for seven days. */
export function isReadable(task: Task, now: number): boolean {
  return now - task.createdAt <= recordMsMax;
}

function planPhases(task: Task): readonly Phase[] {
  const { createdAt, script, cancelledAt } = task;
  const runningAt = createdAt + script.queuedMs;
  const planned = [
    { status: 'queued', since: createdAt },
    { status: 'running', since: runningAt },
    ...planEnd(task, runningAt + script.runningMs),
  ];
  if (cancelledAt === undefined) return planned;
  return [...planned.filter((phase) => phase.since < cancelledAt), { status: 'cancelled', since: cancelledAt }];
}

function planEnd({ createdAt, script, picture }: Task, plannedAt: number): readonly Phase[] {
  const { ending, recoverAfterMs } = script;
  if (ending.as === 'never') return [];
  if (ending.as === 'succeeded') return planSuccess(picture, plannedAt);
  const end = { status: toStatus(ending), since: plannedAt };
  return ending.as === 'other' && recoverAfterMs !== undefined
    ? [end, ...planSuccess(picture, Math.max(plannedAt + 1, createdAt + recoverAfterMs))]
    : [end];
}

function planSuccess(picture: Task['picture'], plannedAt: number): readonly Phase[] {
  if (picture.state === 'awaited') return [];
  if (picture.state === 'broken') return [{ status: 'failed', since: Math.max(plannedAt, picture.at) }];
  return [{ status: 'succeeded', since: picture.state === 'ready' ? Math.max(plannedAt, picture.at) : plannedAt }];
}

function toStatus(ending: Exclude<TaskEnd, { as: 'never' }>): string {
  return ending.as === 'other' ? ending.status : ending.as;
}
