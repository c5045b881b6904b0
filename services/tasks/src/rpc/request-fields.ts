import { timestampMs, durationFromMs, durationMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { deriveWords, deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { EveryMember } from '../domain/every-member.ts';
import type { State, TaskFilter } from '../domain/task.ts';
import type { TaskCount } from '../store/task-store.ts';
import { KIND_WORDS, fromOptionalEnum, fromWireEnum } from './mapping-order.ts';
import { toTimestamp } from '@reelgate/platform/rpc/whole-message';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { QueueClass, QueueMode } from '@reelgate/proto/tasks/v1/queue';
import type { QueuePreference } from '@reelgate/proto/tasks/v1/queue';
import type { WaitPreference } from '../domain/wait-plan.ts';
import { refuse } from '../refusals.ts';

export const STATE_WORDS = deriveWords(TaskState);

/** A time that a request may leave out. */
export function readTime(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}

/** The wire cannot distinguish an empty text from an absent one. */
export function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The size of a page. The wire cannot distinguish zero from absent. */
export function readLimit(limit: number, otherwise: number): number {
  return limit === 0 ? otherwise : limit;
}

/** The idempotency key of a create, with the fingerprint that the request gives, or else the digest. */
export function readIdempotency(
  { idempotencyKey: key, requestFingerprint }: { readonly idempotencyKey: string; readonly requestFingerprint: string },
  digest: () => string,
): { readonly key: string; readonly fingerprint: string } | undefined {
  return key === '' ? undefined : { key, fingerprint: requestFingerprint || digest() };
}

/** The members of a request that narrow every list and every watch of tasks. */
interface WireTaskFilter {
  readonly accountId: string;
  readonly states: readonly TaskState[];
  readonly model: string;
  readonly kind: TaskKind;
}

/** The filter of a request. A member of the filter that no request has does not compile. */
export function readTaskFilter({ accountId, states, model, kind }: WireTaskFilter): EveryMember<TaskFilter> {
  return {
    accountId: emptyToUndefined(accountId),
    states: states.map((state) => fromWireEnum(STATE_WORDS, state)),
    model: emptyToUndefined(model),
    kind: fromOptionalEnum(KIND_WORDS, kind),
  };
}

/** The state of a filter; undefined for every state. */
export function readStateFilter(state: TaskState): State | undefined {
  return fromOptionalEnum(STATE_WORDS, state);
}

/** The count of an answer, zero if there was no count. */
export function toWireCount(counted?: TaskCount): {
  readonly counted: number;
  readonly countedAll: boolean;
} {
  return { counted: counted?.count ?? 0, countedAll: counted?.isWhole ?? false };
}

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
