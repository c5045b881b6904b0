import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { State } from '../domain/task.ts';
import { fromWireEnum } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';

/** The size of a page. The wire cannot tell zero from absent. */
export function readLimit(limit: number, otherwise: number): number {
  return limit === 0 ? otherwise : limit;
}

/** The state of a filter; undefined for every state. */
export function readStateFilter(state: TaskState): State | undefined {
  return state === TaskState.UNSPECIFIED ? undefined : fromWireEnum(STATES, state);
}

/** A time that a request may leave out. */
export function readTime(time: Timestamp | undefined): number | undefined {
  return time === undefined ? undefined : timestampMs(time);
}
