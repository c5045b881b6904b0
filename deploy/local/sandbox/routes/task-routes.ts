import { pageSizeMax } from '../limits.ts';
import { invalidParams, internalError, refusalBy, unknownTask } from '../vendor-refusal.ts';
import type { Task } from '../sandbox-task.ts';
import { findPhase, isFinished } from '../task-life.ts';
import { toWireTask } from '../wire-task.ts';
import type { RouteHandler } from './route-handler.ts';
import { json, type Answer } from './route-handler.ts';
import type { ReadTrouble } from '../steering/script.ts';

const pageSizeDefault = 20;

export const listTasks: RouteHandler = ({ query }, { book, clock, linkTo }) => {
  const number = readPage(query, 'page_num', 1, Number.MAX_SAFE_INTEGER);
  const size = readPage(query, 'page_size', pageSizeDefault, pageSizeMax);
  const now = clock.now();
  const tasks = book.newestFirst().filter((task) => isWanted(task, query, now));
  return json({
    items: tasks.slice((number - 1) * size, number * size).map((task) => toWireTask(task, now, linkTo)),
    total: tasks.length,
  });
};

function isWanted(task: Task, query: URLSearchParams, now: number): boolean {
  const ids = query.getAll('filter.task_ids').flatMap((value) => value.split(','));
  const facts = {
    'filter.status': findPhase(task, now).status,
    'filter.model': task.order.model,
    'filter.task_type': task.order.kind,
  };
  return (
    (ids.length === 0 || ids.includes(task.id)) &&
    Object.entries(facts).every(([name, fact]) => (query.get(name) ?? fact) === fact)
  );
}

function readPage(query: URLSearchParams, name: string, otherwise: number, max: number): number {
  const value = Number(query.get(name) ?? otherwise);
  if (!Number.isInteger(value) || value < 1 || value > max)
    throw invalidParams(`${name} must be an integer from 1${max === pageSizeMax ? ` to ${max}` : ''}`);
  return value;
}

export const queryTask: RouteHandler = ({ id }, { book, clock, linkTo }) => {
  const task = book.find(id);
  if (task === undefined) throw unknownTask();
  const { reads } = task.script;
  if (reads === undefined || task.reads >= reads.times) return json({ task: toWireTask(task, clock.now(), linkTo) });
  book.change(id, { reads: task.reads + 1 });
  return answerTrouble(reads);
};

function answerTrouble(trouble: ReadTrouble): Answer {
  if (trouble.as === 'refusal') throw refusalBy(trouble.number) ?? internalError();
  return { as: trouble.as };
}

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
