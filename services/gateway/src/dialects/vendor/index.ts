import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { Schema } from '../../domain/schema.ts';
import type { CreateRoute, Dialect, ListRoute } from '../dialect.ts';
import {
  createdTaskSchema,
  encodeCreatedTask,
  encodeQuery,
  queryAnswerSchema,
  TASK_TYPES,
  encodeVendorTask,
  vendorTaskSchema,
} from './encode.ts';
import { decodeContextIr, decodeGeneration, decodeRegeneration } from './decode.ts';
import { ALPHA, REGENERATED, baseContent, generationContent, nonEmpty, ratioRule } from '../wire/documented-content.ts';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { readWholeNumber, readEnumValue } from '../wire/query-values.ts';
import { invalid } from '../wire/body-validator.ts';

const RATIOS = ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const INT32_MAX = 2 ** 31 - 1;

const strictObject = (
  title: string,
  required: readonly string[],
  properties: Readonly<Record<string, Schema>>,
  more: Schema = {},
): Schema => ({ title, type: 'object', required, additionalProperties: false, properties, ...more });

const generationBody = strictObject(
  'VideoGeneration',
  ['model', 'content', 'duration', 'resolution'],
  {
    model: { ...nonEmpty, description: 'The id of the model.', examples: ['Alpha-H3'] },
    content: generationContent,
    duration: {
      type: 'integer',
      minimum: 1,
      maximum: INT32_MAX,
      description: 'Whole seconds within the range of the model.',
      examples: [5],
    },
    resolution: { ...nonEmpty, description: 'A resolution of the model, such as 768P or 2K.', examples: ['768P'] },
    ratio: {
      ...nonEmpty,
      description: 'A ratio of the model. Without media it is required and must not be adaptive.',
      examples: ['16:9'],
    },
  },
  ratioRule,
);

const watermark: Schema = { type: 'boolean', description: 'Whether the result has the watermark.' };

const regenerationBody: Schema = {
  title: 'VideoRegeneration',
  description: 'Mode A regenerates a finished task, mode B a video.',
  oneOf: [
    strictObject('VideoRegenerationByTask', ['model', 'resolution', 'source_task_id'], {
      model: ALPHA,
      resolution: REGENERATED,
      source_task_id: { ...nonEmpty, maxLength: 64, description: 'Mode A: the id of a finished 768P task.' },
      aigc_watermark: watermark,
      content: { type: 'array', maxItems: 0 },
    }),
    strictObject('VideoRegenerationByVideo', ['model', 'resolution', 'content'], {
      model: ALPHA,
      resolution: REGENERATED,
      content: baseContent,
      aigc_watermark: watermark,
      source_task_id: { type: 'string', maxLength: 0 },
    }),
  ],
};

const contextIrBody = strictObject(
  'ContextIr',
  ['model', 'content', 'duration'],
  {
    model: ALPHA,
    content: generationContent,
    duration: { type: 'integer', minimum: 4, maximum: 15, description: 'Whole seconds.' },
    ratio: { enum: RATIOS, description: 'Without media it is required and must not be adaptive.' },
    callback_url: {
      ...nonEmpty,
      description: 'Passed to the generator unchanged; the generator reports to this URL itself.',
    },
  },
  ratioRule,
);

const PAGE_NUM = { min: 1, max: 1000, fallback: 1 };
const PAGE_SIZE = { min: 1, max: 100, fallback: 20 };
const TASK_IDS_MAX = 100;
const WORD_CHARACTERS_MAX = 256;

const STATES = {
  queued: TaskState.QUEUED,
  running: TaskState.IN_PROGRESS,
  succeeded: TaskState.COMPLETED,
  failed: TaskState.FAILED,
} as const;

const pageSchema = {
  title: 'VendorPage',
  ...objectSchema({ items: { type: 'array', items: vendorTaskSchema }, total: { type: 'integer' } }),
} as const;

export const listTasks: ListRoute = {
  path: '/v2/query/video_generation',
  operationId: 'queryVideoTasks',
  summary: 'List tasks of every kind by page, newest first',
  parameters: [
    {
      name: 'page_num',
      description: 'The number of the page, from 1.',
      schema: { type: 'integer', minimum: PAGE_NUM.min, maximum: PAGE_NUM.max, default: PAGE_NUM.fallback },
    },
    {
      name: 'page_size',
      description: 'The number of tasks on a page.',
      schema: { type: 'integer', minimum: PAGE_SIZE.min, maximum: PAGE_SIZE.max, default: PAGE_SIZE.fallback },
    },
    {
      name: 'filter.status',
      description: 'Only tasks with this status.',
      schema: { enum: [...Object.keys(STATES), ''] },
    },
    {
      name: 'filter.task_ids',
      description: 'Only these tasks. It can be repeated.',
      schema: { type: 'array', maxItems: TASK_IDS_MAX, items: { type: 'string' } },
    },
    { name: 'filter.model', description: 'Only tasks of this model.', schema: { type: 'string' } },
    {
      name: 'filter.task_type',
      description: 'Only tasks of this type.',
      schema: { enum: [...Object.keys(TASK_TYPES), ''] },
    },
  ],
  answer: newAnswer(pageSchema, ({ tasks, total }, links) => ({
    items: tasks.map((task) => encodeVendorTask(task, links)),
    total,
  })),
  decode: (query) => {
    const limit = readWholeNumber(query, 'page_size', PAGE_SIZE);
    const state = readEnumValue(query, 'filter.status', STATES);
    const kind = readEnumValue(query, 'filter.task_type', TASK_TYPES);
    return {
      limit,
      offset: (readWholeNumber(query, 'page_num', PAGE_NUM) - 1) * limit,
      withTotal: true,
      taskIds: readTaskIds(query),
      model: readModel(query),
      ...(state === undefined ? {} : { states: [state] }),
      ...(kind === undefined ? {} : { kind }),
    };
  },
};

function readTaskIds(query: URLSearchParams): string[] {
  const ids = query
    .getAll('filter.task_ids')
    .flatMap((text) => text.split(','))
    .filter((id) => id !== '');
  if (ids.length > TASK_IDS_MAX || ids.some((id) => id.length > WORD_CHARACTERS_MAX))
    throw invalid('filter.task_ids', `must be at most ${TASK_IDS_MAX} task ids`, 'invalid_request');
  return ids;
}

function readModel(query: URLSearchParams): string {
  const model = query.get('filter.model') ?? '';
  if (model.length <= WORD_CHARACTERS_MAX) return model;
  throw invalid('filter.model', 'must be the id of a model', 'invalid_request');
}

const cancelledSchema = {
  title: 'CancelledTask',
  ...objectSchema({ task_id: { type: 'string' }, action: { enum: ['cancelled'] }, status: { enum: ['cancelled'] } }),
} as const;

const newCreateRoute = (
  path: string,
  operationId: string,
  summary: string,
  rest: { readonly body: Schema; readonly decode: CreateRoute['decode'] },
): CreateRoute => ({ path, operationId, summary, answer: newAnswer(createdTaskSchema, encodeCreatedTask), ...rest });

/** The vendor's own paths. Each path has one strict body and one kind of task. */
export const vendor: Dialect = {
  name: 'Video tasks (vendor shape)',
  refusals: { envelope: 'vendor', from: '/v2' },
  creates: [
    newCreateRoute('/v2/video_generation', 'generateVideo', 'Create a generation', {
      body: generationBody,
      decode: decodeGeneration,
    }),
    newCreateRoute('/v2/video_regeneration', 'regenerateVideo', 'Render a 768P video again at 2K', {
      body: regenerationBody,
      decode: decodeRegeneration,
    }),
    newCreateRoute('/v2/h3_context_ir', 'enhancePrompt', 'Create an enhanced prompt', {
      body: contextIrBody,
      decode: decodeContextIr,
    }),
  ],
  reads: [
    {
      path: '/v2/query/video_generation/{task_id}',
      operationId: 'queryVideoTask',
      summary: 'Read a task',
      answer: newAnswer(queryAnswerSchema, encodeQuery),
    },
  ],
  lists: [listTasks],
  ends: [
    {
      method: 'DELETE',
      path: '/v2/video_generation/{task_id}',
      operationId: 'cancelVideoTask',
      summary: 'Cancel a queued task',
      ends: 'cancel',
      answer: newAnswer(cancelledSchema, ({ id }) => ({ task_id: id, action: 'cancelled', status: 'cancelled' })),
    },
  ],
};
