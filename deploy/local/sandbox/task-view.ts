import { contextPrompt } from './context-prompt.ts';
import { failureBy } from './refusal.ts';
import type { Task } from './task.ts';
import { findPhase } from './task-life.ts';
import { computeUsage } from './usage.ts';

export type TaskView = Readonly<Record<string, unknown>> & { readonly status: string };
export type LinkMaker = (task: Task) => string;

/** A task as the vendor shows it in a query, in a list and in a callback. */
export function toWireTask(task: Task, now: number, linkTo: LinkMaker): TaskView {
  const { id, order, createdAt } = task;
  const { status, since } = findPhase(task, now);
  const prompt = order.kind === 'h3_context_ir' ? contextPrompt(order) : '';
  const succeeded = status === 'succeeded';
  return {
    id,
    model: order.model,
    status,
    ...(status === 'failed' ? { error: toWireError(task) } : {}),
    created_at: unixSeconds(createdAt),
    updated_at: unixSeconds(since),
    ...(succeeded && task.script.result !== 'absent'
      ? { content: order.kind === 'h3_context_ir' ? { prompt } : { url: linkTo(task) } }
      : {}),
    ...(order.resolution === undefined ? {} : { resolution: order.resolution }),
    duration: order.duration,
    usage: succeeded ? computeUsage(order, task.script, prompt.length) : {},
    ratio: order.kind === 'regeneration' ? '' : order.ratio,
    task_type: order.kind,
    modality: order.kind === 'h3_context_ir' ? 'text' : 'video',
  };
}

function toWireError({ script }: Task): unknown {
  return failureBy(script.ending.as === 'failed' ? script.ending.code : '1000');
}

function unixSeconds(ms: number): number {
  return Math.floor(ms / 1000);
}
