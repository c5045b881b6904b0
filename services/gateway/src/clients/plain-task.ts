import { deriveValues, deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { MediaKind, MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ContentItem, Order } from '@reelgate/proto/tasks/v1/order';
import { FailureCause, TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task, TaskFailure, TaskResult } from '@reelgate/proto/tasks/v1/task';
import { toPlainPlace } from './task-queue.ts';
import type { PlainPlace } from './task-queue.ts';
import { toMs, requireValue, emptyToUndefined } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

export type PlainKind = EnumWord<typeof TaskKind>;
export type PlainState = EnumWord<typeof TaskState>;
export type PlainRole = EnumWord<typeof MediaRole>;
export type PlainMediaKind = EnumWord<typeof MediaKind>;

/** A medium of an order, as the client named it. */
export interface PlainMedia {
  readonly kind: PlainMediaKind;
  /** The role, undefined if the medium has none. */
  readonly role: PlainRole | undefined;
  /** The URL, undefined if the bytes came with the request. */
  readonly url: string | undefined;
}

export type PlainItem = { readonly text: string } | { readonly media: PlainMedia };

/** An order in the words that clients use. */
export interface PlainOrder {
  readonly kind: PlainKind;
  readonly model: string;
  readonly content: readonly PlainItem[];
  readonly duration: number | undefined;
  readonly resolution: string | undefined;
  readonly ratio: string | undefined;
  readonly sourceTaskId: string | undefined;
  readonly aigcWatermark: boolean | undefined;
  readonly callbackUrl: string | undefined;
  readonly size: string | undefined;
  /** Fields that this service does not know. */
  readonly extra: Readonly<Record<string, unknown>>;
}

/** A task in the words that clients use. Times are milliseconds since 1970. */
export interface PlainTask {
  readonly id: string;
  readonly order: PlainOrder;
  readonly state: PlainState;
  readonly progress: number;
  readonly seconds: number;
  /** The label that the client chose for its own accounting, undefined if there is none. */
  readonly label: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly completedAt: number | undefined;
  readonly expiresAt: number | undefined;
  /** The video of the result, undefined if the task has none. */
  readonly video: PlainVideo | undefined;
  /** The enhanced prompt, undefined if the task has none. */
  readonly text: string | undefined;
  readonly failure: PlainFailure | undefined;
  /** Its place, undefined unless it waits and was read alone. */
  readonly queue: PlainPlace | undefined;
}

export interface PlainFailure {
  readonly code: string;
  readonly message: string;
  /** Undefined if it is not known. */
  readonly cause?: EnumWord<typeof FailureCause>;
}

export interface PlainVideo {
  readonly bytes: number;
  readonly mediaType: string;
  readonly width: number;
  readonly height: number;
  readonly durationMs: number;
  readonly frameRate: number;
}

export const WIRE_KINDS = deriveValues(TaskKind);
export const KIND_WORDS: Readonly<Record<number, PlainKind | undefined>> = deriveWords(TaskKind);
export const TASK_STATES = listWords(TaskState);
export const WIRE_TASK_STATES = deriveValues(TaskState);
export const TASK_STATE_WORDS: Readonly<Record<number, PlainState | undefined>> = deriveWords(TaskState);
export const ROLE_WORDS = deriveWords(MediaRole);
const MEDIA_KINDS = deriveWords(MediaKind, 'image');

export function toPlainTask(task: Task): PlainTask {
  return {
    id: task.id,
    order: toPlainOrder(requireValue(task.order)),
    state: toPlainState(task.state),
    progress: task.progress,
    seconds: task.seconds,
    label: emptyToUndefined(task.label),
    createdAt: toMs(task.createdAt) ?? 0,
    updatedAt: toMs(task.updatedAt) ?? 0,
    completedAt: toMs(task.completedAt),
    expiresAt: toMs(task.expiresAt),
    video: toPlainVideo(task.result),
    text: emptyToUndefined(task.result?.prompt ?? ''),
    failure: task.state === TaskState.FAILED ? toPlainFailure(task.failure) : undefined,
    queue: task.state === TaskState.QUEUED ? task.queue && toPlainPlace(task.queue) : undefined,
  } satisfies MessageMapping<Task, 'accountId' | 'result' | 'usage' | 'unrecognisedStatus' | 'pollAfterMs'>;
}

/** Converts a state. A state that this version does not know becomes `otherwise`. */
export function toPlainState(state: TaskState, otherwise: PlainState = 'queued'): PlainState {
  return TASK_STATE_WORDS[state] ?? otherwise;
}

export function toPlainOrder(order: Order): PlainOrder {
  return {
    kind: KIND_WORDS[order.kind] ?? 'generation',
    model: order.model,
    content: order.content.flatMap(toPlainItem),
    duration: order.duration,
    resolution: order.resolution,
    ratio: order.ratio,
    sourceTaskId: emptyToUndefined(order.sourceTaskId),
    aigcWatermark: order.aigcWatermark,
    callbackUrl: order.callbackUrl,
    size: order.size,
    extra: order.extraJson === '' ? {} : (JSON.parse(order.extraJson) as Record<string, unknown>),
  } satisfies MessageMapping<Order, 'extraJson' | 'optionalExtra'>;
}

function toPlainItem({ item }: ContentItem): PlainItem[] {
  if (item.case === 'text') return [{ text: item.value }];
  if (item.case === undefined) return [];
  const { kind, role, url } = item.value;
  return [{ media: { kind: MEDIA_KINDS[kind], role: ROLE_WORDS[role], url: emptyToUndefined(url) } }];
}

function toPlainVideo(result: TaskResult | undefined): PlainVideo | undefined {
  if (result === undefined || result.object === '') return undefined;
  const { bytes, mediaType, width, height, durationMs, frameRate } = result;
  return {
    bytes: Number(bytes),
    mediaType,
    width,
    height,
    durationMs: Number(durationMs),
    frameRate,
  } satisfies MessageMapping<TaskResult, 'object' | 'prompt'>;
}

const CAUSES = deriveWords(FailureCause);

function toPlainFailure(failure: TaskFailure | undefined): PlainFailure {
  const { code = 'failed', message = 'the task failed', cause = FailureCause.UNSPECIFIED } = failure ?? {};
  const known = CAUSES[cause];
  return { code, message, ...(known === undefined ? {} : { cause: known }) };
}
