import { invalidParams } from '../refusal.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import type { Task } from '../task.ts';
import { findPhase } from '../task-life.ts';

/** The source of a regeneration: a generation of this sandbox that succeeded, in the format of a base video. */
export function sourceTask(id: string, { book, clock }: SandboxParts): Task {
  const task = book.find(id);
  if (task === undefined) throw invalidParams('source_task_id names no task of this account');
  if (task.order.kind !== 'generation') throw invalidParams('source_task_id must name a generation');
  if (task.order.resolution !== '768P') throw invalidParams('source_task_id must name a 768P generation');
  if (findPhase(task, clock.now()).status !== 'succeeded')
    throw invalidParams('source_task_id must name a task that succeeded');
  return task;
}
