import type { Task } from '@reelgate/proto/tasks/v1/task';
import { newAnswer } from '../../domain/schema.ts';
import type { Dialect, Links } from '../dialect.ts';
import type { Draft, Schema, TypeOf } from '../../domain/schema.ts';
import {
  errorSchema,
  encodeFailure,
  isCompleted,
  dropUndefined,
  encodeIgnored,
  encodeQueue,
  ignoredSchema,
  queueSchema,
  statusSchema,
  toStatusName,
} from '../wire/task-fields.ts';
import { decodeGenerations } from './decode.ts';
import { generationsBody } from './documented-body.ts';

const id = { type: 'string' } as const;

const createdSchema = {
  title: 'GenerationsCreated',
  type: 'object',
  required: ['task_id', 'id', 'status'],
  additionalProperties: false,
  properties: { task_id: id, id, status: { const: 'queued' }, ignored: ignoredSchema },
} as const satisfies Schema;

const taskSchema = {
  title: 'GenerationsTask',
  type: 'object',
  required: ['task_id', 'id', 'status'],
  additionalProperties: false,
  properties: {
    task_id: id,
    id,
    status: statusSchema,
    url: { type: 'string', description: 'A link that needs no token.' },
    format: { const: 'mp4' },
    metadata: {
      type: 'object',
      additionalProperties: false,
      properties: {
        duration: { type: 'number', description: 'Seconds.' },
        fps: { type: 'number' },
        width: { type: 'integer' },
        height: { type: 'integer' },
        prompt: { type: 'string' },
      },
    },
    error: errorSchema,
    queue: queueSchema,
    ignored: ignoredSchema,
  },
} as const satisfies Schema;

type GenerationsTask = TypeOf<typeof taskSchema>;

/** The flat shape that several other gateways use too. */
export const generations: Dialect = {
  name: 'Video generations',
  creates: [
    {
      path: '/v1/video/generations',
      operationId: 'createGeneration',
      summary: 'Create a generation from flat fields',
      description:
        'A field that is not listed here is refused with `unknown_field`, unless a generator of the model takes it with ' +
        'this value, such as `negative_prompt`.',
      body: generationsBody,
      decode: decodeGenerations,
      answer: newAnswer(createdSchema, encodeCreated),
    },
  ],
  reads: [
    {
      path: '/v1/video/generations/{task_id}',
      operationId: 'getGeneration',
      summary: 'Read a task',
      answer: newAnswer(taskSchema, encodeTask),
    },
  ],
  lists: [],
  ends: [],
};

function encodeCreated(task: Task): TypeOf<typeof createdSchema> {
  return dropUndefined({
    task_id: task.id,
    id: task.id,
    status: 'queued',
    ignored: encodeIgnored(task),
  } satisfies Draft<TypeOf<typeof createdSchema>>);
}

function encodeTask(task: Task, links: Links): GenerationsTask {
  const url = links.toVideoUrl(task);
  return dropUndefined({
    task_id: task.id,
    id: task.id,
    status: toStatusName(task),
    url,
    format: url === undefined ? undefined : 'mp4',
    metadata: encodeMetadata(task),
    error: encodeFailure(task),
    queue: encodeQueue(task),
    ignored: encodeIgnored(task),
  } satisfies Draft<GenerationsTask>);
}

function encodeMetadata(task: Task): GenerationsTask['metadata'] | undefined {
  const { result } = task;
  if (!isCompleted(task) || result === undefined) return undefined;
  if (result.prompt !== '') return { prompt: result.prompt };
  return {
    duration: Number(result.durationMs) / 1000,
    fps: result.frameRate,
    width: result.width,
    height: result.height,
  };
}
