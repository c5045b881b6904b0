import { create } from '@bufbuild/protobuf';
import { durationFromMs, durationMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords, listWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { QueueClass, QueueMode, QueuePreferenceSchema, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePlace, QueuePreference } from '@reelgate/proto/tasks/v1/queue';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** The preference of a create for its wait while no channel takes it. The token decides over missing members. */
export interface WaitPreference {
  readonly mode?: EnumWord<typeof QueueMode>;
  readonly class?: WaitClass;
  /** The task fails without a turn after this time. */
  readonly startWithinS?: number;
  /** Milliseconds since 1970. */
  readonly notBefore?: number;
}

export type WaitClass = EnumWord<typeof QueueClass>;

/** The place of a task that waits. Times are milliseconds since 1970. */
export interface PlainPlace {
  /** The number of tasks of its own token that have their turns before it. */
  readonly position: number;
  readonly estimatedStartAt: number | undefined;
  readonly since: number;
  readonly startBy: number;
  readonly class: WaitClass;
  readonly waitsFor: EnumWord<typeof QueueWait>;
}

export const QUEUE_MODES = listWords(QueueMode);
export const QUEUE_CLASSES = listWords(QueueClass);
const MODES = deriveValues(QueueMode);
const CLASSES = deriveValues(QueueClass);
const MODE_WORDS = deriveWords(QueueMode);
export const WAIT_CLASSES: Readonly<Record<number, WaitClass | undefined>> = deriveWords(QueueClass);
const WAITS = deriveWords(QueueWait, 'capacity');

export function toWirePreference({ mode, class: wanted, startWithinS, notBefore }: WaitPreference): QueuePreference {
  return create(QueuePreferenceSchema, {
    ...(mode && { mode: MODES[mode] }),
    ...(wanted && { class: CLASSES[wanted] }),
    ...(startWithinS !== undefined && { startWithin: durationFromMs(startWithinS * 1000) }),
    ...(notBefore !== undefined && { notBefore: timestampFromMs(notBefore) }),
  });
}

export function fromWirePreference(wire: QueuePreference): WaitPreference {
  const mode = MODE_WORDS[wire.mode];
  const applied = WAIT_CLASSES[wire.class];
  const notBefore = toMs(wire.notBefore);
  return {
    ...(mode && { mode }),
    ...(applied && { class: applied }),
    ...(wire.startWithin && { startWithinS: Math.ceil(durationMs(wire.startWithin) / 1000) }),
    ...(notBefore !== undefined && { notBefore }),
  };
}

export function toPlainPlace(place: QueuePlace): PlainPlace {
  return {
    position: place.position,
    estimatedStartAt: toMs(place.estimatedStartAt),
    since: toMs(place.since) ?? 0,
    startBy: toMs(place.startBy) ?? 0,
    class: WAIT_CLASSES[place.class] ?? 'standard',
    waitsFor: WAITS[place.waitsFor],
  } satisfies MessageMapping<QueuePlace>;
}
