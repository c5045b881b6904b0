import { json } from '../http/answer.ts';
import { invalidParams, unknownTask } from '../vendor-refusal.ts';
import { isFinished, findPhase } from '../task-life.ts';
import type { RouteHandler } from './route-handler.ts';

/** Cancels a queued task, deletes a finished one, and refuses all others. */
export const deleteTask: RouteHandler = ({ id }, { book, clock, announcer }) => {
  const task = book.find(id);
  if (task === undefined) throw unknownTask();
  const phase = findPhase(task, clock.now());
  if (phase.status === 'queued') {
    book.change(id, { cancelledAt: clock.now() });
    announcer.check(id);
    return json({ task_id: id, action: 'cancelled', status: 'cancelled' });
  }
  if (!isFinished(phase) || phase.status === 'cancelled')
    throw invalidParams(`a ${phase.status} task can be neither cancelled nor deleted`);
  book.remove(id);
  return json({ task_id: id, action: 'deleted', status: 'deleted' });
};
