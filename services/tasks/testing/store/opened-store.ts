import { expect } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { Task } from '../../src/domain/task.ts';
import type { Attempt, NewTask, TaskStore } from '../../src/store/task-store.ts';
import { aNewTask } from '../tasks.ts';

/** A store on an empty database, and another process on the same database. */
export interface OpenedStore {
  readonly store: TaskStore;
  readonly other: TaskStore;
  readonly sql: Sql;
}

export type OpenStore = () => Promise<OpenedStore>;

export const AT = 1_000_000;

/** A task under creation. */
export async function begun(store: TaskStore, id: string, changes: Partial<NewTask> = {}): Promise<void> {
  expect(await store.begin(aNewTask(id, changes))).toBe('begun');
}

/** A task with a started first attempt. */
export async function started(
  store: TaskStore,
  id: string,
  changes: Partial<NewTask> & { readonly channel?: string } = {},
): Promise<void> {
  const { channel = 'main', ...task } = changes;
  await begun(store, id, task);
  expect(
    await store.startAttempt(id, { number: 1, owner: task.owner ?? 'proc_1', channel, inFlightMax: 1000, at: AT }),
  ).toBe(true);
}

/** A task that its upstream accepted under the id `up-<id>`, due at once. */
export async function accepted(
  store: TaskStore,
  id: string,
  changes: Partial<NewTask> & { readonly channel?: string; readonly nextPollAt?: number } = {},
): Promise<void> {
  const { nextPollAt = AT, ...task } = changes;
  await started(store, id, task);
  await store.accept(id, {
    number: 1,
    mapping: { channel: changes.channel ?? 'main', upstreamAccount: 'vendor', upstreamId: `up-${id}` },
    at: AT,
    nextPollAt,
  });
}

/** A task with a lost answer. */
export async function unknown(store: TaskStore, id: string, changes: Partial<NewTask> = {}): Promise<void> {
  await started(store, id, changes);
  await store.leaveUnknown(id, {
    number: 1,
    mapping: { channel: 'main', upstreamAccount: 'vendor' },
    error: 'timed out',
    at: AT,
  });
}

export async function completed(
  store: TaskStore,
  id: string,
  changes: Partial<NewTask> & { readonly at?: number } = {},
): Promise<void> {
  const { at = AT, ...task } = changes;
  await accepted(store, id, task);
  expect(await store.finish(id, { state: 'completed', at, result: { object: `obj-${id}` } })).toBeDefined();
}

export const inFlight = (store: TaskStore, ...scopes: readonly string[]): Promise<number[]> =>
  Promise.all(scopes.map((scope) => store.inFlight(scope)));
export const outcomes = async (store: TaskStore, id: string): Promise<Attempt['outcome'][]> =>
  (await store.attempts(id)).map(({ outcome }) => outcome);
export const eventTypes = async (store: TaskStore, id: string): Promise<string[]> =>
  (await store.events(id)).map(({ type }) => type);
export const idsOf = (tasks: readonly Task[]): string[] => tasks.map(({ id }) => id);
export const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `task_${String(index).padStart(3, '0')}`);
