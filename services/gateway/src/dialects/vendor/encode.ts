import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { ADAPTIVE } from '../../domain/model-defaults.ts';
import type { Links } from '../dialect.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { Draft, Schema, TypeOf } from '../../domain/schema.ts';
import {
  errorSchema,
  encodeFailure,
  isCompleted,
  readKind,
  dropUndefined,
  toUnixSeconds,
  statusSchema,
  toStatusName,
  encodeUsage,
  usageSchema,
} from '../wire/task-fields.ts';

/** The vendor's status names. */
const VENDOR_STATUS: Readonly<Record<TaskState, string>> = {
  [TaskState.UNSPECIFIED]: 'queued',
  [TaskState.QUEUED]: 'queued',
  [TaskState.IN_PROGRESS]: 'running',
  [TaskState.COMPLETED]: 'succeeded',
  [TaskState.FAILED]: 'failed',
};

export const TASK_TYPES = {
  generation: TaskKind.GENERATION,
  regeneration: TaskKind.REGENERATION,
  h3_context_ir: TaskKind.CONTEXT_IR,
} as const;

const TYPE_OF = { ...deriveWords(TaskKind, 'generation'), [TaskKind.CONTEXT_IR]: 'h3_context_ir' } as const;

export const vendorTaskSchema = {
  title: 'VendorTask',
  type: 'object',
  required: ['id', 'model', 'status', 'created_at', 'updated_at', 'usage', 'task_type', 'modality', 'ratio'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    model: { type: 'string' },
    status: {
      type: 'string',
      description:
        'queued, running, succeeded or failed. Any other value is a status of the generator and is not final.',
      examples: ['running'],
    },
    error: errorSchema,
    created_at: { type: 'integer' },
    updated_at: { type: 'integer' },
    content: {
      type: 'object',
      additionalProperties: false,
      properties: {
        url: { type: 'string', description: 'The result of a video task: a link that needs no token.' },
        prompt: { type: 'string', description: 'The result of a context-IR task.' },
      },
    },
    resolution: { type: 'string' },
    duration: { type: 'integer' },
    usage: usageSchema,
    ratio: { type: 'string' },
    task_type: { enum: Object.keys(TASK_TYPES) as readonly (keyof typeof TASK_TYPES)[] },
    modality: { enum: ['video', 'text'] },
  },
} as const satisfies Schema;

type VendorTask = TypeOf<typeof vendorTaskSchema>;

export const queryAnswerSchema = {
  title: 'VendorQueryAnswer',
  ...objectSchema({ task_id: { type: 'string' }, status: statusSchema, task: vendorTaskSchema }),
} as const;

/** Encodes a task as the vendor's object, with the public id and link. */
export function encodeVendorTask(task: Task, links: Links): VendorTask {
  return dropUndefined({
    id: task.id,
    model: task.order?.model ?? '',
    status: task.unrecognisedStatus === '' ? VENDOR_STATUS[task.state] : task.unrecognisedStatus,
    error: encodeFailure(task),
    created_at: toUnixSeconds(task.createdAt) ?? 0,
    updated_at: toUnixSeconds(task.updatedAt ?? task.createdAt) ?? 0,
    content: encodeContent(task, links),
    ...encodeFrame(task),
    task_type: TYPE_OF[readKind(task)],
    modality: readKind(task) === TaskKind.CONTEXT_IR ? 'text' : 'video',
    usage: encodeUsage(task) ?? {},
  } satisfies Draft<VendorTask>);
}

function encodeFrame(task: Task): Pick<Draft<VendorTask>, 'resolution' | 'duration' | 'ratio'> {
  const { order, seconds } = task;
  const duration = seconds > 0 ? seconds : order?.duration;
  if (readKind(task) === TaskKind.CONTEXT_IR) return { duration, ratio: order?.ratio ?? ADAPTIVE };
  const ratio = order?.ratio ?? (readKind(task) === TaskKind.REGENERATION ? '' : ADAPTIVE);
  return { resolution: order?.resolution, duration, ratio };
}

/** Has the status twice: the vendor's name in `task`, this service's name beside it. */
export function encodeQuery(task: Task, links: Links): TypeOf<typeof queryAnswerSchema> {
  return { task_id: task.id, status: toStatusName(task), task: encodeVendorTask(task, links) };
}

function encodeContent(task: Task, links: Links): VendorTask['content'] | undefined {
  const url = links.toVideoUrl(task);
  if (url !== undefined) return { url };
  return readKind(task) === TaskKind.CONTEXT_IR && isCompleted(task)
    ? { prompt: task.result?.prompt ?? '' }
    : undefined;
}

/** The answer to an official create: only the id. */
export const createdTaskSchema = { title: 'CreatedTask', ...objectSchema({ task_id: { type: 'string' } }) } as const;

export function encodeCreatedTask({ id }: Task): TypeOf<typeof createdTaskSchema> {
  return { task_id: id };
}
