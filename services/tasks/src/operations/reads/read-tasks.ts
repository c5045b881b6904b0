import type { Task } from '../../domain/task.ts';
import type { ListFilter, Page, TaskStep } from '../../store/task-store.ts';
import type { Deps } from '../deps.ts';
import { assertPosition } from './assert-position.ts';
import { taskNotFound } from '../task-refusals.ts';

/** Reads a task for its owner. For other accounts the task does not exist. */
export async function getTask({ store }: Pick<Deps, 'store'>, accountId: string, taskId: string): Promise<Task> {
  const task = await store.findOwned(accountId, taskId);
  if (task === undefined) throw taskNotFound();
  return task;
}

export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
  readonly total: number | undefined;
}

export type OwnersFilter = ListFilter & { readonly accountId: string };

/** Lists a page of tasks. An operator may name no account. A page may begin after a removed task, as long as its record is kept. */
export async function listTasks(
  { store }: Pick<Deps, 'store'>,
  filter: ListFilter,
  page: Page,
  withTotal: boolean,
): Promise<TaskPage> {
  if (page.after !== undefined) assertPosition(await store.find(page.after), filter.accountId ?? '', 'task');
  const found = await store.list(filter, { ...page, limit: page.limit + 1 });
  return {
    tasks: found.slice(0, page.limit),
    hasMore: found.length > page.limit,
    total: withTotal ? await store.count(filter) : undefined,
  };
}

/** Lists the next tasks that match, among a bounded number of tasks. */
export async function listTaskStep(
  { store }: Pick<Deps, 'store'>,
  filter: ListFilter,
  page: Omit<Page, 'offset'>,
): Promise<TaskStep> {
  if (page.after !== undefined) assertPosition(await store.find(page.after), filter.accountId ?? '', 'task');
  return store.listStep(filter, page);
}

/** The filter for the task of a create with this key. Undefined: no task matches. */
export async function withKey(
  { store, clock }: Pick<Deps, 'store' | 'clock'>,
  filter: OwnersFilter,
  key: string,
): Promise<OwnersFilter | undefined> {
  const taskId = (await store.findKey(filter.accountId, key, clock.now()))?.taskId;
  const { taskIds = [] } = filter;
  return taskId === undefined || (taskIds.length > 0 && !taskIds.includes(taskId))
    ? undefined
    : { ...filter, taskIds: [taskId] };
}
