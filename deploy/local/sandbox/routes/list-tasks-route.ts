import { json } from '../http/answer.ts';
import { pageSizeMax } from '../limits.ts';
import { invalidParams } from '../vendor-refusal.ts';
import type { Task } from '../sandbox-task.ts';
import { findPhase } from '../task-life.ts';
import { toWireTask } from '../wire-task.ts';
import type { RouteHandler } from './route-handler.ts';

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
