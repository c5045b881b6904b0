import type { Task } from '../../domain/task.ts';
import type { ListFilter, Page } from '../../store/task-store.ts';
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

/** Lists a page of the owner's tasks. A page may begin after a removed task, as long as its record is kept. */
export async function listTasks(
  { store }: Pick<Deps, 'store'>,
  filter: ListFilter & { readonly accountId: string },
  page: Page,
  withTotal: boolean,
): Promise<TaskPage> {
  if (page.after !== undefined) assertPosition(await store.find(page.after), filter.accountId, 'task');
  const found = await store.list(filter, { ...page, limit: page.limit + 1 });
  return {
    tasks: found.slice(0, page.limit),
    hasMore: found.length > page.limit,
    total: withTotal ? await store.count(filter) : undefined,
  };
}
