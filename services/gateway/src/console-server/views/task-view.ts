import type { QueuePlace, Reference, TaskView } from '../../../console/api/task.ts';
import type { TaskCharge } from '../../clients/money-client.ts';
import type { PlainItem, PlainOrder, PlainTask } from '../../clients/plain-task.ts';
import type { PlainPlace } from '../../clients/task-queue.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { toContentPath, hasVideo, readPrompt, taskRow, toThumbnailPath } from './task-row.ts';

/** The order that a regeneration renders, and the model that does it. */
const RENDERED = { kind: 'generation', resolution: '768P', model: 'Alpha-H3' } as const;

/** The order and the state of a task in full. */
export function wholeTask(
  task: PlainTask,
  charge: Omit<TaskCharge, 'taskId'> | undefined,
  now: number,
): Omit<TaskView['task'], 'tokenId' | 'tokenName' | 'requestId'> {
  const { order, updatedAt, expiresAt, queue } = task;
  return {
    ...taskRow(task, charge, now),
    updatedAt,
    ...dropUndefined({ expiresAt, queue: queue && queueView(queue) }),
    fullPrompt: readPrompt(order),
    references: order.content.flatMap(toReferences),
    settings: listSettings(order),
  };
}

function queueView({ estimatedStartAt, ...place }: PlainPlace): QueuePlace {
  return { ...place, ...dropUndefined({ estimatedStartAt }) };
}

/** The video of a task, while it can be played. */
export function videoView(task: PlainTask, now: number): NonNullable<TaskView['video']> | undefined {
  if (task.video === undefined || !hasVideo(task, now)) return undefined;
  const src = toContentPath(task.id);
  return { src, thumbnail: toThumbnailPath(task.id), download: src, ...task.video };
}

/** Reports whether a task can be rendered again at 2K with these models. */
export function canRegenerate(task: PlainTask, models: readonly string[], now: number): boolean {
  const { kind, resolution } = task.order;
  return (
    hasVideo(task, now) &&
    kind === RENDERED.kind &&
    resolution === RENDERED.resolution &&
    models.includes(RENDERED.model)
  );
}

function toReferences(item: PlainItem): Reference[] {
  if ('text' in item) return [];
  const { kind, role, url } = item.media;
  return [{ role: role ?? '', kind, ...dropUndefined({ url }) }];
}

/** The fields that a row does not have, under the names that clients give them. */
function listSettings({ size, sourceTaskId, aigcWatermark, callbackUrl, extra }: PlainOrder): Record<string, unknown> {
  const own = { size, source_task_id: sourceTaskId, aigc_watermark: aigcWatermark, callback_url: callbackUrl };
  return Object.fromEntries([...Object.entries(dropUndefined(own)), ...Object.entries(extra)]);
}
