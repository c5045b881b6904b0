import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { ListRoute } from '../dialect.ts';
import { readWholeNumber, readEnumValue } from '../wire/query-values.ts';
import { invalid } from '../wire/body-validator.ts';
import { TASK_TYPES, encodeVendorTask, vendorTaskSchema } from './encode.ts';

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
