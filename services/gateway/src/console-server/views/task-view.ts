import type { QueuePlace, Reference, TaskView } from '../../../console/api/task.ts';
import type { TaskCharge } from '../../clients/money-client.ts';
import type { PlainItem, PlainOrder, PlainTask } from '../../clients/plain-task.ts';
import type { PlainPlace } from '../../clients/task-queue.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import type { TaskRow } from '../../../console/api/tasks.ts';
import { toCharge } from './money-view.ts';

const PROMPT_CODE_POINTS_MAX = 120;

type OptionalMembers = {
  readonly [K in keyof TaskRow as Partial<TaskRow> extends Pick<TaskRow, K> ? K : never]-?: TaskRow[K] | undefined;
};

/** The members of a task that a row has under another name, or leaves out. */
type NotInRows = 'order' | 'completedAt' | 'updatedAt' | 'expiresAt' | 'video' | 'text' | 'queue';

/** A task in a list. A member of a task that neither the row nor the list above has does not compile. */
export function taskRow(task: PlainTask, charge: Omit<TaskCharge, 'taskId'> | undefined, now: number): TaskRow {
  const { id, order, state, progress, seconds, label, createdAt, completedAt, failure } = task;
  return {
    id,
    kind: order.kind,
    model: order.model,
    state,
    progress,
    prompt: cutPrompt(readPrompt(order)),
    seconds,
    resolution: order.resolution ?? '',
    ratio: order.ratio ?? '',
    createdAt,
    ...dropUndefined<OptionalMembers>({
      label,
      endedAt: completedAt,
      thumbnail: hasVideo(task, now) ? toThumbnailPath(id) : undefined,
      failure,
      charge: charge && toCharge(charge),
    } satisfies Record<Exclude<keyof PlainTask, keyof TaskRow | NotInRows>, unknown> & Record<string, unknown>),
  };
}

/** The texts of an order. */
function readPrompt({ content }: PlainOrder): string {
  return content.flatMap((item) => ('text' in item ? [item.text] : [])).join('\n');
}

/** Reports whether its video can be played now. */
export function hasVideo({ video, expiresAt }: PlainTask, now: number): boolean {
  return video !== undefined && (expiresAt === undefined || expiresAt > now);
}

/** Returns the address at which the pages of a client get the video. */
function toContentPath(taskId: string): string {
  return `/console/api/v1/videos/${taskId}/content`;
}

function toThumbnailPath(taskId: string): string {
  return `${toContentPath(taskId)}?variant=thumbnail`;
}

/** Cut between characters, never within one. A character has at most two code units. */
function cutPrompt(text: string): string {
  return [...text.slice(0, 2 * PROMPT_CODE_POINTS_MAX)].slice(0, PROMPT_CODE_POINTS_MAX).join('');
}

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
