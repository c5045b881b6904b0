import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { State } from '../domain/task.ts';
import type { TaskFilter } from '../domain/task-filter.ts';
import { KINDS, fromWireEnum } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';

/** The size of a page. The wire cannot tell zero from absent. */
export function readLimit(limit: number, otherwise: number): number {
  return limit === 0 ? otherwise : limit;
}

/** The members of a request that narrow every list and every watch of tasks. */
export interface WireTaskFilter {
  readonly accountId: string;
  readonly states: readonly TaskState[];
  readonly model: string;
  readonly kind: TaskKind;
}

/** The filter of a request. A member of the filter that no request has does not compile. */
export function readTaskFilter({ accountId, states, model, kind }: WireTaskFilter): Named<TaskFilter> {
  return {
    accountId: emptyToUndefined(accountId),
    states: states.map((state) => fromWireEnum(STATES, state)),
    model: emptyToUndefined(model),
    kind: kind === TaskKind.UNSPECIFIED ? undefined : fromWireEnum(KINDS, kind),
  };
}

/** Every member is named, also those that are undefined. */
export type Named<T> = { readonly [K in keyof Required<T>]: T[K] };

/** A text of a filter; the wire cannot tell empty from absent. */
export function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The state of a filter; undefined for every state. */
export function readStateFilter(state: TaskState): State | undefined {
  return state === TaskState.UNSPECIFIED ? undefined : fromWireEnum(STATES, state);
}

/** A time that a request may leave out. */
export function readTime(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}
