import { create } from '@bufbuild/protobuf';
import { durationFromMs, durationMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { QueuePreferenceSchema } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePreference } from '@reelgate/proto/tasks/v1/queue';
import { WAIT_CLASS_WORDS, WAIT_MODE_WORDS, WIRE_WAIT_CLASSES, WIRE_WAIT_MODES } from './task-words.ts';
import type { WaitClass, WaitMode } from './task-words.ts';
import { toMs } from './wire-values.ts';

/** The preference of a create for its wait while no channel takes it. The token decides over missing members. */
export interface WaitPreference {
  readonly mode?: WaitMode;
  readonly class?: WaitClass;
  /** The task fails without a turn after this time. */
  readonly startWithinS?: number;
  /** Milliseconds since 1970. */
  readonly notBefore?: number;
}

export function toWirePreference({ mode, class: wanted, startWithinS, notBefore }: WaitPreference): QueuePreference {
  return create(QueuePreferenceSchema, {
    ...(mode && { mode: WIRE_WAIT_MODES[mode] }),
    ...(wanted && { class: WIRE_WAIT_CLASSES[wanted] }),
    ...(startWithinS !== undefined && { startWithin: durationFromMs(startWithinS * 1000) }),
    ...(notBefore !== undefined && { notBefore: timestampFromMs(notBefore) }),
  });
}

export function fromWirePreference(wire: QueuePreference): WaitPreference {
  const mode = WAIT_MODE_WORDS[wire.mode];
  const applied = WAIT_CLASS_WORDS[wire.class];
  const notBefore = toMs(wire.notBefore);
  return {
    ...(mode && { mode }),
    ...(applied && { class: applied }),
    ...(wire.startWithin && { startWithinS: Math.ceil(durationMs(wire.startWithin) / 1000) }),
    ...(notBefore !== undefined && { notBefore }),
  };
}
