import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { Links, Schema } from '../dialect.ts';
import {
  errorSchema,
  encodeFailure,
  isCompleted,
  readKind,
  dropUndefined,
  toUnixSeconds,
  statusSchema,
  toStatusName,
  encodeQueue,
  encodeUsage,
  queueSchema,
  usageSchema,
} from '../wire/task-fields.ts';

const UNIX = { type: 'integer', description: 'Unix seconds.' };

export const videoSchema: Schema = {
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
    error: errorSchema,
    usage: usageSchema,
    queue: queueSchema,
  },
};

/** Encodes a task of any kind as a video object. */
export function encodeVideo(task: Task, links: Links): object {
  const url = links.toVideoUrl(task);
  const prompt = readKind(task) === TaskKind.CONTEXT_IR && isCompleted(task) ? task.result?.prompt : undefined;
  return dropUndefined({
    id: task.id,
    task_id: task.id,
    object: 'video',
    model: task.order?.model ?? '',
    status: toStatusName(task),
    progress: task.progress,
    created_at: toUnixSeconds(task.createdAt),
    completed_at: toUnixSeconds(task.completedAt),
    expires_at: toUnixSeconds(task.expiresAt),
    seconds: task.seconds > 0 ? String(task.seconds) : undefined,
    size: encodeSize(task),
    video_url: url,
    metadata: url === undefined && prompt === undefined ? undefined : dropUndefined({ url, prompt }),
    remixed_from_video_id: task.order?.sourceTaskId === '' ? undefined : task.order?.sourceTaskId,
    error: encodeFailure(task),
    usage: encodeUsage(task),
  });
}

/** Encodes a task for a read of it alone, with its place while it waits. */
export function encodeReadVideo(task: Task, links: Links): object {
  const queue = encodeQueue(task);
  return { ...encodeVideo(task, links), ...(queue && { queue }) };
}

/** Returns the size that the client sent, otherwise the size of the result. */
function encodeSize({ order, result }: Task): string | undefined {
  if (order?.size !== undefined) return order.size;
  return result === undefined || result.width === 0 ? undefined : `${result.width}x${result.height}`;
}
