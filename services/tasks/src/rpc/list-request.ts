import { Problem } from '@reelgate/platform/problem';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { State } from '../domain/task.ts';
import { nameOf } from './mapping-order.ts';
import { STATES } from './mapping-task.ts';

export interface LimitBounds {
  readonly max: number;
  /** The limit for zero, which the wire cannot tell from absent. */
  readonly otherwise: number;
}

/** The size of a page. */
export function readLimit(limit: number, { max, otherwise }: LimitBounds): number {
  if (limit === 0) return otherwise;
  if (limit < 0 || limit > max)
    throw badField('limit', `must be from 1 to ${String(max)}; leave it out for ${String(otherwise)}`);
  return limit;
}

export function readOffset(offset: number, max: number): number {
  if (offset < 0 || offset > max) throw badField('offset', `must be from 0 to ${String(max)}`);
  return offset;
}

/** An unknown filter is refused, because it would match every task. */
export function readState(state: TaskState, field: string): State {
  const known = nameOf(STATES, state);
  if (known === undefined) throw badField(field, `must be one of ${Object.keys(STATES).join(', ')}`);
  return known;
}

/** The state of a filter; undefined for every state. */
export function readStateFilter(state: TaskState): State | undefined {
  return state === TaskState.UNSPECIFIED ? undefined : readState(state, 'state');
}

export function atMost<T>(values: readonly T[], max: number, field: string): readonly T[] {
  if (values.length > max)
    throw badField(field, `must hold at most ${String(max)} entries; it holds ${String(values.length)}`);
  return values;
}

export function badField(field: string, message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_request', field, message });
}
