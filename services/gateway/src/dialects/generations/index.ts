import type { Task } from '@reelgate/proto/tasks/v1/task';
import { newAnswer } from '../../domain/schema.ts';
import type { Draft, Schema, TypeOf } from '../../domain/schema.ts';
import type { Dialect, Links } from '../dialect.ts';
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
import { decodeGenerations, controlSchemas } from './decode.ts';
import type { GenerationsBody } from './decode.ts';
import {
  generationContent,
  mediaContent,
  nonEmpty,
  orNull,
  words,
  aspectRatio,
  duration,
  ratio,
  resolution,
  size,
} from '../wire/documented-content.ts';
import { clientSchemas, documentedBound, documentedWebhookUrl } from '../wire/flat-fields.ts';
import { pictureSchemas } from '../wire/pictures.ts';

const SIDE_MAX = 99_999;

const model: Schema = { ...nonEmpty, description: 'The id of the model.', examples: ['Alpha-H3'] };
const side: Schema = { type: 'integer', minimum: 1, maximum: SIDE_MAX };
const requireField = (name: string): Schema => ({
  required: [name],
  properties: { [name]: { not: { type: 'null' } } },
});

/** A field of the body that is not documented does not compile. */
const common = orNull({
  ...pictureSchemas,
  duration,
  seconds: { ...duration, description: 'An alias of duration.' },
  size,
  ratio,
  aspect_ratio: aspectRatio,
  resolution,
  width: { ...side, description: 'With height, an alternative to size.' },
  height: side,
  ...clientSchemas,
  ...controlSchemas,
  response_format: { const: 'url', description: 'The answer has a link.' },
  source_task_id: { type: 'string', maxLength: 0, description: 'Empty: this path only generates.' },
  action: { enum: ['generation', 'generate'], description: 'This path only generates.' },
  webhook_url: documentedWebhookUrl,
  ...documentedBound,
} satisfies Readonly<Record<Exclude<keyof GenerationsBody, 'model' | 'prompt' | 'content'>, Schema>>);

/** Forbidden combinations: a duration under two names, a size given twice or in part. */
const rules: Schema = {
  title: 'OneLengthOneSize',
  allOf: [
    { not: { allOf: [requireField('seconds'), requireField('duration')] } },
    { not: { allOf: [requireField('size'), { anyOf: [requireField('width'), requireField('height')] }] } },
    {
      anyOf: [
        { allOf: [requireField('width'), requireField('height')] },
        { not: { anyOf: [requireField('width'), requireField('height')] } },
      ],
    },
  ],
};

const body = (title: string, required: string, properties: Readonly<Record<string, Schema>>): Schema => ({
  title,
  type: 'object',
  required: ['model', required],
  properties: { model, ...properties, ...common },
  allOf: [rules],
});

/** A field that no schema names is refused, unless a generator of the model takes it. */
const generationsBody: Schema = {
  title: 'VideoGenerationsCreate',
  anyOf: [
    body('VideoGenerationsByPrompt', 'prompt', {
      prompt: { ...words, description: 'The text that describes the video.' },
      ...orNull({ content: mediaContent }),
    }),
    body('VideoGenerationsByContent', 'content', {
      content: generationContent,
      ...orNull({ prompt: { type: 'string', pattern: '^\\s*$', description: 'Empty: the text is in content.' } }),
    }),
  ],
};

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
