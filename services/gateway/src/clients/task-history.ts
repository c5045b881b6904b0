import type { TaskEvent } from '@reelgate/proto/tasks/v1/operator_service';
import type { HistoryEntry } from '../../console/api/operator-tasks.ts';
import { toMs } from './wire-values.ts';

/** Reads the history of a task or a job as it is stored. */
export function fromWireHistory(events: readonly TaskEvent[]): readonly HistoryEntry[] {
  return events.map(({ at, type, detailJson }) => ({
    at: toMs(at) ?? 0,
    type,
    detail: detailJson === '' ? {} : (JSON.parse(detailJson) as unknown),
  }));
}
