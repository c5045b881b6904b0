import type { Acts } from '../acts.ts';
import { isFinal } from '../dialects.ts';
import type { SeenTask } from '../dialects.ts';
import type { BreakRule } from './read-stores.ts';

/** A create as its client knows it. */
export interface PromisedOrder {
  /** The name of the order, however often it is sent. */
  readonly order: string;
  readonly account: string;
  /** Empty if the order has no key. */
  readonly key: string;
}

/** A task whose id a client knows. */
export interface PromisedTask {
  readonly order: string;
  readonly account: string;
  readonly id: string;
}

/** What clients saw of tasks and jobs. */
export interface SeenTasks {
  /** A create was answered with a task. */
  promised(order: PromisedOrder, task: SeenTask): void;
  promisedJob(key: string, jobId: string): void;
  /**
   * A task or a job was read. Different dialects have different words for the same end. `sentAt` is the time at which the
   * client sent the request, of any process.
   */
  read(dialect: string, task: SeenTask, sentAt: number): void;
  /** A read says that there is no such task. */
  missing(taskId: string): void;
  /** A client is about to remove a task. */
  removing(taskId: string): void;
  /** A client was told by a process that the task is removed. */
  removed(taskId: string, process: string): void;
  /** A read of a task, sent at this time, was answered with it by a process. */
  found(taskId: string, sentAt: number, process: string): void;
  /** A client of another account asks for the task, and gets this status. */
  askedByOther(taskId: string, status: number): void;
  isRemoving(taskId: string): boolean;
  readonly list: () => readonly PromisedTask[];
  /** The order of a task that its client was told of. */
  findOrder(taskId: string): string | undefined;
  /** Forgets what clients were told later. The tasks that they were told of then may be missing from now on. */
  forgetSince(since: number): void;
}

/** A word of an upstream that no adapter knows. It is shown beside the state, and a power cut can take it back. */
const UNRECOGNISED = 'pondering';
/** The states that a task goes through, in this order. */
const RANKS: Readonly<Record<string, number>> = {
  queued: 1,
  pending: 1,
  in_progress: 2,
  completed: 3,
  failed: 3,
};

/** What a client was told first at a time. */
interface Known<T> {
  readonly value: T;
  readonly at: number;
}

interface SeenState {
  readonly rank: number;
  readonly status: string;
  /** The time at which the answer came. */
  readonly at: number;
}

/**
 * Another gateway answers for a deleted task from memory until it hears of the deletion: a late announcement comes within
 * three seconds, and a lost one is noticed within four, by the connection to the bus that is lost with it.
 */
const REMEMBERED_MS_MAX = 5000;

export interface SeenTasksOptions {
  readonly breakRule: BreakRule;
  readonly now: () => number;
  readonly acts: Acts;
  /** True if several processes answer. */
  readonly hasReplicas: boolean;
}

/** What clients were told stays true. */
export function openSeenTasks({ breakRule, now, acts, hasReplicas }: SeenTasksOptions): SeenTasks {
  const taskOfKey = new Map<string, Known<string>>();
  const promised = new Map<string, Known<PromisedTask>>();
  const ended = new Map<string, Known<string>>();
  const states = new Map<string, SeenState>();
  const removing = new Set<string>();
  /** The tasks that a restore has taken back. */
  const forgotten = new Set<string>();
  const removed = new Map<string, { readonly at: number; readonly by: string }>();
  const promiseKey = (account: string, key: string, id: string): void => {
    const known = taskOfKey.get(`${account} ${key}`)?.value;
    if (known !== undefined && known !== id) breakRule('a key makes one task', `${key}: ${known} and ${id}`);
    if (known === id) acts.note('a key is repeated');
    if (known === undefined) taskOfKey.set(`${account} ${key}`, { value: id, at: now() });
  };
  const assertForward = ({ id, status }: SeenTask, sentAt: number): void => {
    if (status === UNRECOGNISED) return;
    const rank = RANKS[status];
    if (rank === undefined) {
      breakRule('a state is one of the contract', `${id}: ${status}`);
      return;
    }
    const before = states.get(id);
    if (before !== undefined && before.at <= sentAt && before.rank > rank)
      breakRule('no state goes backwards', `${id}: ${before.status}, then ${status}`);
    if (before === undefined || rank > before.rank) states.set(id, { rank, status, at: now() });
  };
  return {
    read: (dialect, task, sentAt) => {
      if (dialect !== 'async') assertForward(task, sentAt);
      if (!isFinal(task)) return;
      // every dialect says the same state, and each its own error
      for (const [of, end] of [
        [task.id, task.status],
        [`${dialect} ${task.id}`, `${task.status} ${task.error}`],
      ] as const) {
        const before = ended.get(of)?.value;
        if (before !== undefined && before !== end)
          breakRule('a final state never changes', `${of}: ${before}, then ${end}`);
        if (before === undefined) ended.set(of, { value: end, at: now() });
      }
    },
    promised: ({ order, account, key }, { id }) => {
      if (key !== '') promiseKey(account, key, id);
      if (!promised.has(id)) promised.set(id, { value: { order, account, id }, at: now() });
    },
    promisedJob: (key, jobId) => {
      promiseKey('', key, jobId);
    },
    missing: (taskId) => {
      if (removing.has(taskId) || forgotten.has(taskId)) return;
      breakRule('no task is lost', `${taskId} of ${promised.get(taskId)?.value.order ?? 'no order'} is not found`);
    },
    removing: (taskId) => {
      removing.add(taskId);
    },
    removed: (taskId, process) => {
      removed.set(taskId, { at: now(), by: process });
      acts.note('a task is deleted');
    },
    found: (taskId, sentAt, process) => {
      const removal = removed.get(taskId);
      if (removal === undefined) return;
      const rememberedMs = hasReplicas && process !== removal.by ? REMEMBERED_MS_MAX : 0;
      if (removal.at + rememberedMs <= sentAt)
        breakRule('a deleted task is not found', `${taskId} is read after its deletion was answered`);
    },
    askedByOther: (taskId, status) => {
      if (status < 400) breakRule('a task of another account is not found', `${taskId} is answered with ${status}`);
      if (status === 404) acts.note('a foreign task is not found');
    },
    isRemoving: (taskId) => removing.has(taskId),
    list: () => [...promised.values()].map(({ value }) => value),
    findOrder: (taskId) => promised.get(taskId)?.value.order,
    forgetSince: (since) => {
      for (const [id, { at }] of promised) if (at > since) forgotten.add(id);
      for (const { value: id, at } of taskOfKey.values()) if (at > since) forgotten.add(id);
      for (const known of [taskOfKey, promised, ended, states, removed])
        for (const [name, { at }] of known) if (at > since) known.delete(name);
    },
  };
}
