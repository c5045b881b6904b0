import type { TaskRow } from '../../../console/api/tasks.ts';
import type { TaskCharge } from '../../clients/money-client.ts';
import type { PlainOrder, PlainTask } from '../../clients/plain-task.ts';
import { toCharge } from './money-view.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

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
export function readPrompt({ content }: PlainOrder): string {
  return content.flatMap((item) => ('text' in item ? [item.text] : [])).join('\n');
}

/** Reports whether its video can be played now. */
export function hasVideo({ video, expiresAt }: PlainTask, now: number): boolean {
  return video !== undefined && (expiresAt === undefined || expiresAt > now);
}

/** Returns the address at which the pages of a client get the video. */
export function toContentPath(taskId: string): string {
  return `/console/api/v1/videos/${taskId}/content`;
}

export function toThumbnailPath(taskId: string): string {
  return `${toContentPath(taskId)}?variant=thumbnail`;
}

/** Cut between characters, never within one. A character has at most two code units. */
function cutPrompt(text: string): string {
  return [...text.slice(0, 2 * PROMPT_CODE_POINTS_MAX)].slice(0, PROMPT_CODE_POINTS_MAX).join('');
}
