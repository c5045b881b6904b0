import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { Schema } from '../dialect.ts';

/** The answer to an official create: only the id. */
export const createdTaskSchema: Schema = {
  title: 'CreatedTask',
  type: 'object',
  required: ['task_id'],
  additionalProperties: false,
  properties: { task_id: { type: 'string' } },
};

export function encodeCreatedTask(task: Task): object {
  return { task_id: task.id };
}
