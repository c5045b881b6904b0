import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { AttentionItemSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { TOTAL_SCOPE, tokenScope } from '../../../src/domain/in-flight-scope.ts';
import { isTerminal } from '../../../src/domain/task.ts';
import type { AttentionStore, DeadlineStore, ProcessStore, RetentionStore } from '../../../src/store/task-store.ts';
import { findTask, isWaiting, leaveScopes, toTask } from './model-state.ts';
import type { ModelState, ModelTask } from './model-state.ts';

const STATES = deriveValues(TaskState);
/** The most that the clock of an upstream and ours differ, so that a lost task may have work from before its create. */
const CLOCKS_DIFFER_MS = 60_000;

export function modelAttention(state: ModelState): AttentionStore {
  return {
    raise: async (item) => {
      const task = findTask(state, item.taskId);
      if (isWaiting(state, item.taskId) || (task !== undefined && isTerminal(task.state))) return false;
      state.attention = state.attention.filter(({ taskId }) => taskId !== item.taskId);
      state.attention.push({ ...item, isOpen: true });
      const { reason, detail, since } = item;
      task?.notes.push({ at: since, note: { type: 'attention', detail: { reason, detail } } });
      return true;
    },
    isWaiting: async (taskId) => isWaiting(state, taskId),
    resolve: async (taskId, by) => {
      const task = findTask(state, taskId);
      return task !== undefined && resolveWait(state, task, by);
    },
    listOpenAttention: async () =>
      state.attention
        .filter(({ isOpen }) => isOpen)
        .toSorted((one, other) => one.since - other.since || (one.taskId < other.taskId ? -1 : 1))
        .flatMap(({ taskId, reason, detail, since }) => {
          const task = findTask(state, taskId);
          if (task === undefined) return [];
          const { accountId, order, attempts, state: taskState } = task;
          const channel = task.channel ?? attempts.at(-1)?.channel ?? '';
          return [
            toMessage(AttentionItemSchema, {
              ...{ taskId, reason, detail, accountId, model: order.model, channel, isJob: false },
              since: timestampFromMs(since),
              state: STATES[taskState],
            }),
          ];
        }),
  };
}

/** Ends the wait for a person. Returns whether the task waited. */
export function resolveWait(
  state: ModelState,
  { id, notes }: ModelTask,
  { resolution, actor, at, reason, why }: Parameters<AttentionStore['resolve']>[1],
): boolean {
  const item = state.attention.find(({ taskId, isOpen }) => taskId === id && isOpen);
  if (item === undefined || (reason !== undefined && item.reason !== reason)) return false;
  item.isOpen = false;
  const said = why === undefined || why === '' ? {} : { reason: why };
  notes.push({ at, note: { type: 'attention_resolved', detail: { resolution, actor, ...said } } });
  if (why !== undefined)
    state.acts.push(`${actor} attention_resolved ${id} ${JSON.stringify({ resolution })} ${why} ${at}`);
  return true;
}

/** The tasks that a deadline may pass. */
function isAlive({ finishedAt, admission }: ModelTask): boolean {
  return finishedAt === undefined && admission !== 'submitting';
}

export function modelDeadlines(state: ModelState): DeadlineStore {
  const isNotYet = ({ deadlinePassed }: ModelTask, deadline: 'soft' | 'hard'): boolean =>
    deadlinePassed >= 0 && deadlinePassed < (deadline === 'soft' ? 1 : 2);
  return {
    listLate: async (deadline, createdBefore, limit) =>
      state.tasks
        .filter((task) => isAlive(task) && isNotYet(task, deadline))
        .filter(({ createdAt, beganAt = createdAt }) => Math.max(createdAt, beganAt) < createdBefore)
        .slice(0, limit)
        .map(toTask),
    passDeadline: async (taskId, deadline, at) => {
      const task = findTask(state, taskId);
      if (task === undefined || !isAlive(task) || !isNotYet(task, deadline)) return false;
      task.deadlinePassed = deadline === 'soft' ? 1 : 2;
      task.notes.push({ at, note: { type: `${deadline}_deadline` } });
      if (deadline === 'hard') leaveScopes(task, [tokenScope(task.tokenId), TOTAL_SCOPE]);
      return true;
    },
    listOverdue: async (limit) =>
      state.tasks
        .filter((task) => isAlive(task) && task.deadlinePassed === 2 && !isWaiting(state, task.id))
        .slice(0, limit)
        .map(toTask),
  };
}

export function modelProcesses({ processes, clockDoubts }: ModelState): ProcessStore {
  return {
    heartbeat: async (processId, at) => void processes.set(processId, at),
    heartbeats: async () => new Map(processes),
    forget: async (processId) => void processes.delete(processId),
    noteClockDoubt: async (at) => void clockDoubts.add(at),
    listClockDoubts: async (from) => [...clockDoubts].filter((at) => at >= from).toSorted((one, other) => one - other),
  };
}

export function modelRetention(state: ModelState): RetentionStore {
  return {
    removeFinished: async ({ before, now, limit }) => {
      const removed = listRemovable(state, before, now).slice(0, limit);
      const isGone = (taskId: string): boolean => removed.some(({ id }) => id === taskId);
      state.tasks = state.tasks.filter(({ id }) => !isGone(id));
      state.keys = state.keys.filter(({ taskId }) => !isGone(taskId));
      state.attention = state.attention.filter(({ taskId }) => !isGone(taskId));
      return removed.length;
    },
    removeKeys: async (now, limit) => {
      const expired = state.keys.filter(({ expiresAt }) => expiresAt <= now).slice(0, limit);
      state.keys = state.keys.filter((key) => !expired.includes(key));
      return expired.length;
    },
  };
}

/** The tasks that nothing needs any more, the first that ended first. */
export function listRemovable(state: ModelState, before: number, now: number): ModelTask[] {
  const isNeeded = (task: ModelTask): boolean =>
    isWaiting(state, task.id) ||
    state.keys.some(({ taskId, expiresAt }) => taskId === task.id && expiresAt > now) ||
    state.tasks.some((lost) => mayAdopt(lost, task));
  return state.tasks
    .filter((task) => task.settledAt !== undefined && (task.finishedAt ?? Infinity) < before && !isNeeded(task))
    .toSorted((one, other) => (one.finishedAt ?? 0) - (other.finishedAt ?? 0));
}

/** Reports whether a task with a lost answer could take the work of another one for its own, were that one removed. */
function mayAdopt(lost: ModelTask, task: ModelTask): boolean {
  return (
    lost.admission === 'unknown' &&
    lost.finishedAt === undefined &&
    lost.mapping?.upstreamAccount === task.mapping?.upstreamAccount &&
    lost.createdAt <= (task.finishedAt ?? 0) + CLOCKS_DIFFER_MS &&
    lost.updatedAt >= task.createdAt - CLOCKS_DIFFER_MS
  );
}
