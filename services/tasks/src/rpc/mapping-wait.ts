import { durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { QueueClass, QueueMode } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePreference } from '@reelgate/proto/tasks/v1/queue';
import type { EveryMember } from '../domain/every-member.ts';
import type { WaitPreference } from '../domain/wait-plan.ts';
import { fromOptionalEnum } from './mapping-order.ts';
import { readTime } from './request-fields.ts';
import { refuse } from '../refusals.ts';

export const CLASSES = deriveValues(QueueClass);
const CLASS_WORDS = deriveWords(QueueClass);
const MODES = deriveValues(QueueMode);
const MODE_WORDS = deriveWords(QueueMode);
const START_WITHIN_MS_MIN = 1000;

export function readPreference(wire: QueuePreference | undefined): EveryMember<WaitPreference> {
  const startWithinMs = wire?.startWithin && durationMs(wire.startWithin);
  if (startWithinMs !== undefined && startWithinMs < START_WITHIN_MS_MIN)
    throw refuse('invalid_request', {
      field: 'queue.start_within',
      message: 'is shorter than a second; must be one second or more',
    });
  return {
    mode: wire && fromOptionalEnum(MODE_WORDS, wire.mode),
    class: wire && fromOptionalEnum(CLASS_WORDS, wire.class),
    startWithinMs,
    notBefore: readTime(wire?.notBefore),
  };
}

export function toWirePreference({ mode, class: ofClass, startWithinMs, notBefore }: WaitPreference): QueuePreference {
  return {
    $typeName: 'reelgate.tasks.v1.QueuePreference',
    mode: mode === undefined ? QueueMode.UNSPECIFIED : MODES[mode],
    class: ofClass === undefined ? QueueClass.UNSPECIFIED : CLASSES[ofClass],
    startWithin: startWithinMs === undefined ? undefined : durationFromMs(startWithinMs),
    notBefore: toTimestamp(notBefore),
  } satisfies EveryField<QueuePreference>;
}
