import type { TaskRef } from '../clients/tasks-client.ts';

type OnChange = (carrier: string | undefined) => void;
type OnWork = (work: Work) => void;

/** A task that changed, or a job that ended. */
export interface Work {
  readonly id: string;
  readonly isTask: boolean;
}

/** Ends a watch. */
export interface Watch {
  close(): void;
}

/** Tells waiting reads and open pages that a task changed. */
export interface TaskChanges {
  /** Calls all that watch it, with the carrier of the change if it is recorded. */
  announceChange(task: TaskRef, carrier?: string): void;
  /** The same for a job, which changes once. */
  announceJobEnd(job: TaskRef): void;
  /** Calls back at each change until closed. */
  watch(task: TaskRef, onChange: OnChange): Watch;
  /** The same for all work of an account. */
  watchAccount(accountId: string, onWork: OnWork): Watch;
  /** The same for all work of every account. */
  watchAll(onWork: OnWork): Watch;
  /** Returns the number of watches of a task. */
  countWatches(task: TaskRef): number;
}

const EVERYTHING = '';

export function openTaskChanges(): TaskChanges {
  const tasks = watchers<string | undefined>();
  const accounts = watchers<Work>();
  const tell = (ref: TaskRef, isTask: boolean, carrier?: string): void => {
    tasks.tell(toTaskKey(ref), carrier);
    if (accounts.isEmpty()) return;
    const work = { id: ref.taskId, isTask };
    accounts.tell(ref.accountId, work);
    accounts.tell(EVERYTHING, work);
  };
  return {
    announceChange: (task, carrier) => tell(task, true, carrier),
    announceJobEnd: (job) => tell(job, false),
    watch: (task, onChange) => tasks.add(toTaskKey(task), onChange),
    watchAccount: (accountId, onWork) => accounts.add(accountId, onWork),
    watchAll: (onWork) => accounts.add(EVERYTHING, onWork),
    countWatches: (task) => tasks.count(toTaskKey(task)),
  };
}

export function toTaskKey({ accountId, taskId }: TaskRef): string {
  return `${accountId}\n${taskId}`;
}

interface Watchers<T> {
  tell(key: string, what: T): void;
  add(key: string, onTold: (what: T) => void): Watch;
  count(key: string): number;
  isEmpty(): boolean;
}

function watchers<T>(): Watchers<T> {
  const all = new Map<string, Set<(what: T) => void>>();
  return {
    tell: (key, what) => {
      for (const onTold of all.get(key) ?? []) onTold(what);
    },
    add: (key, onTold) => {
      const own = all.get(key) ?? new Set();
      all.set(key, own.add(onTold));
      return {
        close: () => {
          own.delete(onTold);
          if (own.size === 0 && all.get(key) === own) all.delete(key);
        },
      };
    },
    count: (key) => all.get(key)?.size ?? 0,
    isEmpty: () => all.size === 0,
  };
}

/** An announcement of the services other than a change of a task. */
export type Signal =
  | { readonly of: 'events_dispatched' }
  | { readonly of: 'attention'; readonly id: string }
  | { readonly of: 'channels'; readonly id: string };

/** Passes announcements on to open pages. */
export interface ServiceSignals {
  tell(signal: Signal): void;
  /** Calls back at each signal until closed. */
  hear(onSignal: (signal: Signal) => void): Watch;
}

export function openServiceSignals(): ServiceSignals {
  const listeners = new Set<(signal: Signal) => void>();
  return {
    tell: (signal) => {
      for (const onSignal of listeners) onSignal(signal);
    },
    hear: (onSignal) => {
      listeners.add(onSignal);
      return { close: () => void listeners.delete(onSignal) };
    },
  };
}
