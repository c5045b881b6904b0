import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem, Order } from '@reelgate/proto/tasks/v1/order';
import { TaskState, FailureCause } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { OperatorTaskView } from '../../../console/api/operator-tasks.ts';
import type { QueuePlace, Reference, TaskView } from '../../../console/api/task.ts';
import type { TaskCharge } from '../../clients/money-client.ts';
import {
  MEDIA_KIND_WORDS,
  ROLE_WORDS,
  WAIT_CLASS_WORDS,
  WAIT_REASON_WORDS,
  CAUSE_WORDS,
  KIND_WORDS,
  TASK_STATE_WORDS,
} from '../../clients/task-words.ts';
import { emptyToUndefined, requireValue, toMs } from '../../clients/wire-values.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import type { TaskRow } from '../../../console/api/tasks.ts';
import type { MessageMapping } from '../../clients/wire-values.ts';
import { toCharge } from './money-view.ts';

const PROMPT_CODE_POINTS_MAX = 120;

type OptionalMembers = {
  readonly [K in keyof TaskRow as Partial<TaskRow> extends Pick<TaskRow, K> ? K : never]-?: TaskRow[K] | undefined;
};

/** The members of a task that a row has under another name, or leaves out. */
type NotInRows =
  | ('accountId' | 'order' | 'completedAt' | 'updatedAt' | 'expiresAt' | 'result' | 'queue')
  | ('usage' | 'unrecognisedStatus' | 'pollAfterMs');

/** A task in a list. A member of a task that neither the row nor the list above has does not compile. */
export function taskRow(task: Task, charge: Omit<TaskCharge, 'taskId'> | undefined, now: number): TaskRow {
  const { id, progress, seconds } = task;
  const order = requireValue(task.order);
  return {
    id,
    kind: KIND_WORDS[order.kind] ?? 'generation',
    model: order.model,
    state: TASK_STATE_WORDS[task.state] ?? 'queued',
    progress,
    prompt: cutPrompt(readPrompt(order)),
    seconds,
    resolution: order.resolution ?? '',
    ratio: order.ratio ?? '',
    createdAt: toMs(task.createdAt) ?? 0,
    ...dropUndefined<OptionalMembers>({
      label: emptyToUndefined(task.label),
      endedAt: toMs(task.completedAt),
      thumbnail: hasVideo(task, now) ? toThumbnailPath(id) : undefined,
      failure: readFailure(task),
      charge: charge && toCharge(charge),
    } satisfies MessageMapping<Task, Extract<keyof Task, keyof TaskRow> | NotInRows>),
  };
}

function readFailure({ state, failure }: Task): TaskRow['failure'] {
  if (state !== TaskState.FAILED) return undefined;
  const { code = 'failed', message = 'the task failed', cause = FailureCause.UNSPECIFIED } = failure ?? {};
  return { code, message, ...dropUndefined({ cause: CAUSE_WORDS[cause] }) };
}

/** The texts of an order. */
function readPrompt({ content }: Order): string {
  return content.flatMap(({ item }) => (item.case === 'text' ? [item.value] : [])).join('\n');
}

/** Reads the fields of an order that this service does not know. */
export function readExtra({ extraJson }: Order): Readonly<Record<string, unknown>> {
  return extraJson === '' ? {} : (JSON.parse(extraJson) as Record<string, unknown>);
}

/** Reports whether its video can be played now. */
export function hasVideo({ result, expiresAt }: Task, now: number): boolean {
  return (result?.object ?? '') !== '' && (toMs(expiresAt) ?? Infinity) > now;
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
const RENDERED = { kind: TaskKind.GENERATION, resolution: '768P', model: 'Alpha-H3' } as const;

/** The order and the state of a task in full. */
export function wholeTask(
  task: Task,
  charge: Omit<TaskCharge, 'taskId'> | undefined,
  now: number,
): Omit<TaskView['task'], 'tokenId' | 'tokenName' | 'requestId'> {
  const order = requireValue(task.order);
  return {
    ...taskRow(task, charge, now),
    updatedAt: toMs(task.updatedAt) ?? 0,
    ...dropUndefined({ expiresAt: toMs(task.expiresAt), queue: queueView(task) }),
    fullPrompt: readPrompt(order),
    references: order.content.flatMap(toReferences),
    settings: listSettings(order),
  };
}

/** The place of a task that waits. Undefined for any other task. */
function queueView({ state, queue }: Task): QueuePlace | undefined {
  if (state !== TaskState.QUEUED || queue === undefined) return undefined;
  return {
    position: queue.position,
    since: toMs(queue.since) ?? 0,
    startBy: toMs(queue.startBy) ?? 0,
    class: WAIT_CLASS_WORDS[queue.class] ?? 'standard',
    waitsFor: WAIT_REASON_WORDS[queue.waitsFor],
    ...dropUndefined({ estimatedStartAt: toMs(queue.estimatedStartAt) }),
  };
}

/** The video of a task, while it can be played. */
export function videoView(task: Task, now: number): NonNullable<TaskView['video']> | undefined {
  const facts = readVideo(task);
  if (facts === undefined || !hasVideo(task, now)) return undefined;
  const src = toContentPath(task.id);
  return { src, thumbnail: toThumbnailPath(task.id), download: src, ...facts };
}

/** Reads the facts of the video of a task. Returns undefined if the task has no video. */
export function readVideo({ result }: Task): OperatorTaskView['video'] {
  if (result === undefined || result.object === '') return undefined;
  const { bytes, mediaType, width, height, durationMs, frameRate } = result;
  return { bytes: Number(bytes), mediaType, width, height, durationMs: Number(durationMs), frameRate };
}

/** Reports whether a task can be rendered again at 2K with these models. */
export function canRegenerate(task: Task, models: readonly string[], now: number): boolean {
  return (
    hasVideo(task, now) &&
    task.order?.kind === RENDERED.kind &&
    task.order.resolution === RENDERED.resolution &&
    models.includes(RENDERED.model)
  );
}

function toReferences({ item }: ContentItem): Reference[] {
  if (item.case !== 'media') return [];
  const { kind, role, url } = item.value;
  return [
    {
      role: ROLE_WORDS[role] ?? '',
      kind: MEDIA_KIND_WORDS[kind],
      ...dropUndefined({ url: emptyToUndefined(url) }),
    },
  ];
}

/** The fields that a row does not have, under the names that clients give them. */
function listSettings(order: Order): Record<string, unknown> {
  const own = {
    size: order.size,
    source_task_id: emptyToUndefined(order.sourceTaskId),
    aigc_watermark: order.aigcWatermark,
    callback_url: order.callbackUrl,
  };
  return Object.fromEntries([...Object.entries(dropUndefined(own)), ...Object.entries(readExtra(order))]);
}
