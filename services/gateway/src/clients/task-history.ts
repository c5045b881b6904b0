import type { TaskEvent } from '@reelgate/proto/tasks/v1/operator_service';
import { toMs } from './wire-values.ts';

/** An entry of the history of a task or a job, as it is stored. */
export interface StoredEvent {
  readonly at: number;
  readonly type: string;
  readonly detail: unknown;
}

export function fromWireHistory(events: readonly TaskEvent[]): readonly StoredEvent[] {
  return events.map(({ at, type, detailJson }) => ({
    at: toMs(at) ?? 0,
    type,
    detail: detailJson === '' ? {} : (JSON.parse(detailJson) as unknown),
  }));
}
