import { deriveValues, deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { QueueClass, QueueMode, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import { FailureCause, TaskState } from '@reelgate/proto/tasks/v1/task';
import { TimelineStep } from '@reelgate/proto/tasks/v1/timeline';

export type PlainKind = EnumWord<typeof TaskKind>;
export type PlainState = EnumWord<typeof TaskState>;
export type StepName = EnumWord<typeof TimelineStep>;
export type WaitMode = EnumWord<typeof QueueMode>;
export type WaitClass = EnumWord<typeof QueueClass>;

export const WIRE_KINDS = deriveValues(TaskKind);
export const KIND_WORDS: Readonly<Record<number, PlainKind | undefined>> = deriveWords(TaskKind);
export const TASK_STATES = listWords(TaskState);
export const WIRE_TASK_STATES = deriveValues(TaskState);
export const TASK_STATE_WORDS: Readonly<Record<number, PlainState | undefined>> = deriveWords(TaskState);
export const MEDIA_KIND_WORDS = deriveWords(MediaKind, 'image');
export const ROLE_WORDS = deriveWords(MediaRole);
export const CAUSE_WORDS = deriveWords(FailureCause);
export const STEP_WORDS: Readonly<Record<number, StepName | undefined>> = deriveWords(TimelineStep);
export const WAIT_MODES = listWords(QueueMode);
export const WIRE_WAIT_MODES = deriveValues(QueueMode);
export const WAIT_MODE_WORDS = deriveWords(QueueMode);
export const WAIT_CLASSES = listWords(QueueClass);
export const WIRE_WAIT_CLASSES = deriveValues(QueueClass);
export const WAIT_CLASS_WORDS: Readonly<Record<number, WaitClass | undefined>> = deriveWords(QueueClass);
export const WAIT_REASON_WORDS = deriveWords(QueueWait, 'capacity');
