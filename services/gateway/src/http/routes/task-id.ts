import type { Exchange } from '../http-exchange.ts';
import { refuse } from '../../refusals.ts';

/** The form of an id of this service. An impossible id is refused without a call. */
export const PLAUSIBLE_ID = /^[\w-]{1,64}$/;

/** Reads the parameter `{task_id}` of a path. Refuses an impossible id without a call to the tasks service. */
export function readTaskId(exchange: Exchange): string {
  const { task_id: taskId } = exchange.params;
  if (taskId === undefined) throw new Error('the path of this route has no {task_id}');
  if (!PLAUSIBLE_ID.test(taskId)) throw refuse('task_not_found', { message: 'no such task' });
  exchange.state.taskId = taskId;
  return taskId;
}
