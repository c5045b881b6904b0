import { json, type Answer } from '../http/answer.ts';
import { internalError, refusalBy, unknownTask } from '../vendor-refusal.ts';
import type { ReadTrouble } from '../steering/script.ts';
import { toWireTask } from '../wire-task.ts';
import type { RouteHandler } from './route-handler.ts';

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
