import { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../exchange.ts';

const PLAUSIBLE = /^[\w-]{1,64}$/;

/** The task id in a path. An impossible id is refused without a call to the tasks service. */
export function taskIdOf(exchange: Exchange, name = 'task_id'): string {
  const taskId = exchange.params[name] ?? '';
  if (!PLAUSIBLE.test(taskId))
    throw new Problem({ kind: 'not_found', reason: 'task_not_found', message: 'no such task' });
  exchange.state.taskId = taskId;
  return taskId;
}
