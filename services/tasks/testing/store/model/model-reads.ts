import type { Task } from '../../../src/domain/task.ts';
import { matchesFilter } from '../../../src/domain/task.ts';
import type {
  ChangePosition,
  ChangeStore,
  HistoryEntry,
  ListFilter,
  ReadStore,
} from '../../../src/store/task-store.ts';
import { countInFlight, findTask, isAdmitted, isClaimed, isVisible, toTask } from './model-state.ts';
import type { ModelState, ModelTask } from './model-state.ts';

export function modelReads(state: ModelState): ReadStore {
  return { ...modelTaskReads(state), ...modelHistory(state), ...modelSweepReads(state) };
}

type TaskReads = Pick<ReadStore, 'find' | 'findOwned' | 'list' | 'count' | 'inFlight'>;

function modelTaskReads(state: ModelState): TaskReads {
  const matching = (filter: ListFilter): ModelTask[] =>
    state.tasks.filter((task) => isListed(task, filter)).toSorted(compareIds);
  return {
    find: async (taskId) => toTaskOrNone(findTask(state, taskId)),
    findOwned: async (accountId, taskId) => {
      const task = findTask(state, taskId);
      return task?.accountId === accountId && isVisible(task) ? toTask(task) : undefined;
    },
    list: async (filter, { limit, after, offset = 0, ascending = false }) => {
      const found = ascending ? matching(filter) : matching(filter).toReversed();
      const from = found.filter(({ id }) => after === undefined || (ascending ? id > after : id < after));
      return from.slice(offset, offset + limit).map(toTask);
    },
    count: async (filter) => matching(filter).length,
    inFlight: async (scope) => countInFlight(state, scope),
  };
}

function isListed(task: ModelTask, { hidden, taskIds = [], channel, upstream, ...filter }: ListFilter): boolean {
  if (hidden !== true && !isVisible(task)) return false;
  if (taskIds.length > 0 && !taskIds.includes(task.id)) return false;
  if (channel !== undefined && task.mapping?.channel !== channel) return false;
  const { upstreamAccount = '', upstreamId = '' } = task.mapping ?? {};
  if (upstream !== undefined && (upstream.id !== upstreamId || !upstream.accounts.includes(upstreamAccount)))
    return false;
  return matchesFilter(filter, task);
}

function modelHistory(state: ModelState): Pick<ReadStore, 'attempts' | 'events'> {
  return {
    attempts: async (taskId) => structuredClone(findTask(state, taskId)?.attempts ?? []),
    events: async (taskId) => {
      const task = findTask(state, taskId);
      if (task === undefined) return [];
      return [
        toEntry(task.createdAt, 'created', {}),
        ...task.attempts.flatMap(({ number, channel, upstreamId, outcome, error, startedAt, endedAt = startedAt }) => {
          const started = toEntry(startedAt, 'attempt_started', { number, channel });
          if (outcome === 'accepted') return [started, toEntry(endedAt, 'accepted', { number, channel, upstreamId })];
          const isRefused = outcome === 'refused';
          return isRefused ? [started, toEntry(endedAt, 'attempt_refused', { number, channel, error })] : [started];
        }),
        ...task.notes.map(({ at, note: { type, detail = {} } }) => toEntry(at, type, detail)),
      ];
    },
  };
}

function toEntry(at: number, type: string, detail: object): HistoryEntry {
  return { at, type, detailJson: JSON.stringify(detail) };
}

type SweepReads = Omit<ReadStore, keyof TaskReads | 'attempts' | 'events'>;

function modelSweepReads(state: ModelState): SweepReads {
  /** The creates and the claimed tasks that meet a condition, at most a number of each. */
  const listOwned = (isMeant: (task: ModelTask) => boolean, limit: number): ModelTask[] => {
    const meant = state.tasks.filter(isMeant).toSorted(compareIds);
    const creates = meant.filter(({ admission }) => admission === 'submitting');
    return [...creates.slice(0, limit), ...meant.filter(isClaimed).slice(0, limit)];
  };
  return {
    listAbandoned: async (deadOwners, limit) =>
      listOwned(({ owner = '' }) => !state.processes.has(owner) || deadOwners.includes(owner), limit).map(toTask),
    listOwnedCreateIds: async (owner, limit) => listOwned((task) => task.owner === owner, limit).map(({ id }) => id),
    listWithAdmission: async (admission, { limit, after }) =>
      state.tasks
        .filter((task) => task.admission === admission && task.finishedAt === undefined && task.id > after)
        .filter((task) => admission !== 'waiting' || isClaimed(task))
        .toSorted(compareIds)
        .slice(0, limit)
        .map(toTask),
    findFirstUnsettled: async () =>
      state.tasks
        .filter(({ finishedAt, settledAt }) => finishedAt !== undefined && settledAt === undefined)
        .flatMap(({ settleAt = 0 }) => (settleAt > 0 ? [settleAt] : []))
        .toSorted((one, other) => one - other)[0],
    listUnsettled: async ({ before, beyond, limit }) =>
      state.tasks
        .filter(({ finishedAt, settledAt, settleAt = 0 }) => {
          const isDue = settleAt < before || settleAt > beyond;
          return finishedAt !== undefined && settledAt === undefined && isDue;
        })
        .slice(0, limit)
        .map((task) => ({ ...toTask(task), settleFailures: task.settleFailures })),
    findKnownUpstreamIds: async (upstreamAccount, ids) =>
      new Set(
        state.tasks.flatMap(({ mapping }) => {
          const upstreamId = mapping?.upstreamId ?? '';
          return mapping?.upstreamAccount === upstreamAccount && ids.includes(upstreamId) ? [upstreamId] : [];
        }),
      ),
  };
}

export function modelChanges(state: ModelState): ChangeStore {
  const changed = (isAsked: (task: ModelTask) => boolean, after: ChangePosition, limit: number): ModelTask[] =>
    state.tasks
      .filter(isAsked)
      .filter(({ updatedAt, id }) => updatedAt > after.at || (updatedAt === after.at && id > after.id))
      .toSorted((one, other) => one.updatedAt - other.updatedAt || compareIds(one, other))
      .slice(0, limit);
  return {
    versions: async (taskIds) =>
      new Map(
        state.tasks
          .filter((task) => taskIds.includes(task.id) && isVisible(task))
          .map(({ id, updatedAt }) => [id, updatedAt]),
      ),
    listChanges: async (accountIds, after, limit) =>
      changed((task) => accountIds.includes(task.accountId) && isAdmitted(task), after, limit).map(
        ({ id, updatedAt }) => ({ id, version: updatedAt }),
      ),
    listChangedTasks: async (filter, after, limit) =>
      changed((task) => isVisible(task) && matchesFilter(filter, task), after, limit).map(toTask),
  };
}

function toTaskOrNone(task: ModelTask | undefined): Task | undefined {
  return task === undefined ? undefined : toTask(task);
}

function compareIds(one: { readonly id: string }, other: { readonly id: string }): number {
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}
