import { removeContent } from '../../../src/domain/task.ts';
import { AHEAD_MS } from '../../../src/store/task-store.ts';
import type { Finish, PhaseTimes } from '../../../src/store/finish.ts';
import type {
  DueTimeStore,
  EndedTaskStore,
  FinishStore,
  MoveStore,
  Progress,
  ProgressStore,
  RemovalStore,
  TaskLeaseStore,
} from '../../../src/store/task-store.ts';
import { findTask, isAdmitted, isUnfinished, toTask } from './model-state.ts';
import type { ModelState, ModelTask } from './model-state.ts';
import { resolveWait } from './model-sweeps.ts';

/** The part of the reference that polls tasks and ends them. */
export function modelMoves(state: ModelState): MoveStore & RemovalStore {
  return { ...modelLeases(state), ...modelDueTimes(state), ...modelProgress(state), ...modelEnds(state) };
}

function modelLeases(state: ModelState): TaskLeaseStore {
  const release = (task: ModelTask): void => {
    Object.assign(task, { leaseUntil: undefined, owner: undefined });
  };
  const listLeased = (owner: string): ModelTask[] =>
    state.tasks.filter((task) => task.owner === owner && task.leaseUntil !== undefined);
  return {
    claimDue: async (channel, { now, leaseUntil, limit, owner }) => {
      const claimed = listDue(state, channel, now).slice(0, limit);
      for (const task of claimed) Object.assign(task, { leaseUntil, owner });
      return claimed.map(toTask);
    },
    findNextDue: async (channel, now) => {
      const free = state.tasks.filter(
        (task) => task.channel === channel && task.nextPollAt !== undefined && !isLeased(task, now),
      );
      return free.toSorted(compareDue)[0]?.nextPollAt;
    },
    dropLeases: async (owner) => {
      for (const task of listLeased(owner)) {
        release(task);
        task.resumed = true;
      }
    },
    listLeasedIds: async (channel, owner) =>
      listLeased(owner)
        .filter((task) => task.channel === channel && task.nextPollAt !== undefined)
        .map(({ id }) => id),
    dropLease: async (taskId, owner) => {
      for (const task of listLeased(owner)) if (task.id === taskId) release(task);
    },
  };
}

/** The tasks that a poller may take, the first due one first. */
export function listDue(state: ModelState, channel: string, now: number): ModelTask[] {
  return state.tasks
    .filter((task) => task.channel === channel && (task.nextPollAt ?? Infinity) <= now && !isLeased(task, now))
    .toSorted(compareDue);
}

function compareDue({ nextPollAt: one = 0 }: ModelTask, { nextPollAt: other = 0 }: ModelTask): number {
  return one - other;
}

function isLeased({ leaseUntil }: ModelTask, now: number): boolean {
  return leaseUntil !== undefined && leaseUntil > now;
}

function modelDueTimes(state: ModelState): DueTimeStore {
  return {
    pullIn: async (channel, { beyond, to, limit }) => {
      const late = state.tasks
        .filter((task) => task.channel === channel && (task.nextPollAt ?? 0) > beyond)
        .slice(0, limit);
      for (const task of late) task.nextPollAt = to;
      return late.length;
    },
    makeDue: async (taskId, at) => {
      const task = findTask(state, taskId);
      if (task?.nextPollAt === undefined || task.nextPollAt <= at) return;
      Object.assign(task, { nextPollAt: at, leaseUntil: undefined });
    },
    pollSoon: async (taskId, at) => {
      const task = findTask(state, taskId);
      if (task?.nextPollAt === undefined) return false;
      if (isLeased(task, at)) {
        // a poll runs: another due time than the one that it began with makes one more follow
        if (task.nextPollAt > at) return false;
        task.nextPollAt += 1;
        return true;
      }
      if (task.nextPollAt <= at - AHEAD_MS) return false;
      task.nextPollAt = at - AHEAD_MS;
      return true;
    },
  };
}

function modelProgress(state: ModelState): ProgressStore {
  return {
    progress: async (taskId, from, to, note) => {
      const task = findTask(state, taskId);
      if (task?.nextPollAt === undefined || task.state !== from || !isUnfinished(task)) return false;
      if (isSeen(task, to)) task.updatedAt = computeLater(task, to.at);
      if (to.state === 'in_progress') task.workingAt ??= to.at;
      if (to.wasDueAt === undefined || to.wasDueAt === task.nextPollAt) task.nextPollAt = to.nextPollAt;
      const { upstreamStatus, unrecognised, progress, pollErrors, doubt } = to;
      Object.assign(task, { state: to.state, upstreamStatus, unrecognised, progress, pollErrors, doubt });
      Object.assign(task, { owner: undefined, leaseUntil: undefined, resumed: false, polls: task.polls + 1 });
      task.pollSpans = to.pollSpans ?? task.pollSpans;
      if (note !== undefined) task.notes.push({ at: to.at, note });
      return true;
    },
  };
}

/** Reports whether the owner sees a difference. The upstream's word is shown only where no adapter knows it. */
function isSeen(task: ModelTask, to: Progress): boolean {
  const isSame = task.state === to.state && task.unrecognised === to.unrecognised && task.progress === to.progress;
  return !isSame || (to.unrecognised && task.upstreamStatus !== to.upstreamStatus);
}

/** Each visible change has a later time than the one before it. */
export function computeLater({ updatedAt }: ModelTask, at: number): number {
  return Math.max(at, updatedAt + 1);
}

const BY_SERVICE = { resolution: 'ended', actor: 'service' };

/** Ends a task. Returns the times of its phases, or undefined if it has ended or may not end so. */
export function endTask(state: ModelState, taskId: string, finish: Finish): PhaseTimes | undefined {
  const task = findTask(state, taskId);
  const { at, decision } = finish;
  if (task === undefined || !isUnfinished(task) || !isAdmitted(task)) return undefined;
  if (finish.onlyIfUnknown === true && task.admission !== 'unknown') return undefined;
  const hasWaited = resolveWait(state, task, { ...(decision ?? BY_SERVICE), at });
  if (decision !== undefined && !hasWaited) return undefined;
  const { state: end, result, failure, usage, upstreamCostMicroUsd, expiresAt } = finish;
  Object.assign(task, { state: end, result, failure, usage, upstreamCostMicroUsd, expiresAt, finishedAt: at });
  Object.assign(task, { admission: 'accepted', unrecognised: false, progress: end === 'completed' ? 100 : 0 });
  Object.assign(task, { owner: undefined, leaseUntil: undefined, nextPollAt: undefined, scopes: [], settleAt: at });
  task.updatedAt = computeLater(task, at);
  task.upstreamStatus = finish.upstreamStatus ?? task.upstreamStatus;
  task.notes.push({ at, note: { type: end, detail: { ...failure, usage, fetch_ms: finish.fetchMs } } });
  state.outbox.push(taskId);
  state.events.push(`${task.accountId} video.${end} ${taskId} ${at}`);
  const ends = task.attempts.flatMap(({ endedAt }) => (endedAt === undefined ? [] : [endedAt]));
  const acceptedAt = ends.length === 0 ? undefined : Math.max(...ends);
  return { acceptedAt, workingAt: task.workingAt, ...(hasWaited ? { hasWaited } : {}) };
}

function modelEnds(state: ModelState): FinishStore & EndedTaskStore & RemovalStore {
  return {
    finish: async (taskId, finish) => endTask(state, taskId, finish),
    markSettled: async (taskIds, at) => {
      for (const task of state.tasks) if (taskIds.includes(task.id)) task.settledAt ??= at;
    },
    putOffSettlement: async (taskId, to) => {
      const task = findTask(state, taskId);
      if (task === undefined || task.settledAt !== undefined) return;
      Object.assign(task, { settleAt: to, settleFailures: task.settleFailures + 1 });
    },
    remove: async (taskId, at) => {
      const task = findTask(state, taskId);
      if (task?.finishedAt === undefined || task.deletedAt !== undefined) return false;
      Object.assign(task, removeContent(task), { deletedAt: at, staged: undefined });
      for (const attempt of task.attempts) attempt.error = undefined;
      return true;
    },
    eraseRemoved: async () => undefined,
  };
}
