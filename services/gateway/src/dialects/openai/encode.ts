import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { formatDecimal } from '../../domain/decimal.ts';
import { readCost } from '../../domain/charge.ts';
import type { Charge } from '../../domain/charge.ts';
import type { Links } from '../dialect.ts';
import type { Draft, Schema, TypeOf } from '../../domain/schema.ts';
import {
  errorSchema,
  encodeFailure,
  isCompleted,
  readKind,
  dropUndefined,
  toJsonNumber,
  toUnixSeconds,
  statusSchema,
  toStatusName,
  encodeQueue,
  encodeUsage,
  queueSchema,
  usageSchema,
} from '../wire/task-fields.ts';
import type { ShownFields } from '../wire/task-fields.ts';

const UNIX = { type: 'integer', description: 'Unix seconds.' } as const;

const chargeSchema = {
  title: 'Charge',
  type: 'object',
  description: 'The money of the task. Only in reads; absent while it is not known.',
  required: ['state', 'amount', 'currency'],
  additionalProperties: false,
  properties: {
    state: { enum: ['held', 'charged', 'released'], description: 'charged and released never change.' },
    amount: { type: 'string', description: 'What is held, was charged or was released, as an exact decimal.' },
    currency: { type: 'string' },
  },
} as const satisfies Schema;

export const videoSchema = {
  title: 'Video',
  type: 'object',
  required: ['id', 'task_id', 'object', 'model', 'status', 'progress', 'created_at'],
  additionalProperties: false,
  properties: {
    id: { type: 'string' },
    task_id: { type: 'string', description: 'An alias of id.' },
    object: { const: 'video' },
    model: { type: 'string' },
    status: statusSchema,
    progress: { type: 'integer', minimum: 0, maximum: 100, description: 'Percent; 100 only if the task is completed.' },
    created_at: UNIX,
    completed_at: UNIX,
    expires_at: { ...UNIX, description: 'Unix seconds at which the result expires.' },
    seconds: { type: 'string' },
    size: { type: 'string' },
    video_url: { type: 'string', description: 'A link that needs no token, valid until expires_at.' },
    metadata: {
      type: 'object',
      additionalProperties: false,
      properties: {
        url: { type: 'string' },
        prompt: { type: 'string', description: 'The result of a context-IR task.' },
      },
    },
    remixed_from_video_id: { type: 'string' },
    label: { type: 'string', description: 'The `Reelgate-Label` of its create, or the label of its token then.' },
    error: errorSchema,
    usage: {
      ...usageSchema,
      title: 'UsageAndCost',
      properties: {
        ...usageSchema.properties,
        cost: { type: 'number', minimum: 0, description: 'Only in reads: what was charged; 0 if it was released.' },
      },
    },
    charge: chargeSchema,
    polling_url: { type: 'string', description: 'Only in reads: the path of the read.' },
    queue: queueSchema,
  },
} as const satisfies Schema;

type Video = TypeOf<typeof videoSchema>;

/** The fields of a task that a read shows or leaves out. */
export const SHOWN_FIELDS: ShownFields = {
  ...{ id: true, order: true, state: true, progress: true, createdAt: true, completedAt: true, expiresAt: true },
  ...{ seconds: true, result: true, failure: true, usage: true, label: true, queue: true, unrecognisedStatus: true },
  ...{ accountId: false, updatedAt: false, pollAfterMs: false },
};

/** Encodes a task of any kind as a video object. */
export function encodeVideo(task: Task, links: Links): Video {
  const url = links.toVideoUrl(task);
  const prompt = readKind(task) === TaskKind.CONTEXT_IR && isCompleted(task) ? task.result?.prompt : undefined;
  return dropUndefined({
    id: task.id,
    task_id: task.id,
    object: 'video',
    model: task.order?.model ?? '',
    status: toStatusName(task),
    progress: task.progress,
    created_at: toUnixSeconds(task.createdAt) ?? 0,
    completed_at: toUnixSeconds(task.completedAt),
    expires_at: toUnixSeconds(task.expiresAt),
    seconds: task.seconds > 0 ? String(task.seconds) : undefined,
    size: encodeSize(task),
    video_url: url,
    metadata: url === undefined && prompt === undefined ? undefined : dropUndefined({ url, prompt }),
    remixed_from_video_id: task.order?.sourceTaskId === '' ? undefined : task.order?.sourceTaskId,
    label: task.label === '' ? undefined : task.label,
    error: encodeFailure(task),
    usage: encodeUsage(task),
  } satisfies Draft<Video>);
}

/** Encodes a task for a read, which a create does not have: its answer is repeated byte for byte. */
export function encodeShownVideo(task: Task, links: Links, charge?: Charge): Video {
  const video = encodeVideo(task, links);
  return {
    ...video,
    ...(charge && encodeCharge(charge, encodeUsage(task))),
    polling_url: links.toPublicPath(`/v1/videos/${task.id}`),
  };
}

/** Encodes a task for a read of it alone, with its place while it waits. */
export function encodeReadVideo(task: Task, links: Links, charge?: Charge): Video {
  const queue = encodeQueue(task);
  return { ...encodeShownVideo(task, links, charge), ...(queue && { queue }) };
}

function encodeCharge(charge: Charge, usage: Video['usage']): Pick<Video, 'usage' | 'charge'> {
  const { state, amountNanos, currency } = charge;
  const cost = readCost(charge);
  return {
    ...(cost === undefined ? {} : { usage: { ...usage, cost: toJsonNumber(cost) } }),
    charge: { state, amount: formatDecimal(amountNanos), currency },
  };
}

/** Returns the size that the client sent, otherwise the size of the result. */
function encodeSize({ order, result }: Task): string | undefined {
  if (order?.size !== undefined) return order.size;
  return result === undefined || result.width === 0 ? undefined : `${result.width}x${result.height}`;
}
