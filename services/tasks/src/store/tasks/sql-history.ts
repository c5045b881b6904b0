import type { Sql } from '@reelgate/platform/sql/sql';
import { optionalNumber, optionalText, text } from './task-rows.ts';
import type { Attempt, ReadStore } from '../task-store.ts';

interface HistoryEntry {
  readonly at: number;
  readonly type: string;
  readonly detailJson: string;
}

/**
 * The history of a task. Its creation and its attempts are derived from their own rows, because separate entries would
 * be a third of what a create writes. Everything else has an entry of its own.
 */
export function sqlHistory(sql: Sql): Pick<ReadStore, 'attempts' | 'events'> {
  const attempts = async (taskId: string): Promise<readonly Attempt[]> =>
    (await sql.read('SELECT * FROM attempts WHERE task_id = $1 ORDER BY number', [taskId])).map((row) => ({
      number: Number(row['number']),
      channel: text(row['channel']),
      upstreamId: optionalText(row['upstream_id']),
      outcome: text(row['outcome']) as Attempt['outcome'],
      error: optionalText(row['error']),
      startedAt: Number(row['started_at']),
      endedAt: optionalNumber(row['ended_at']),
    }));
  return {
    attempts,
    events: async (taskId) => {
      const created = (await sql.read('SELECT created_at FROM tasks WHERE id = $1', [taskId])).map((row) =>
        toHistoryEntry(Number(row['created_at']), 'created', {}),
      );
      const tried = (await attempts(taskId)).flatMap(toHistoryEntries);
      const noted = (
        await sql.read('SELECT at, type, detail_json FROM task_events WHERE task_id = $1 ORDER BY id', [taskId])
      ).map((row) => ({ at: Number(row['at']), type: text(row['type']), detailJson: text(row['detail_json']) }));
      // The sort is stable: entries of the same time stay in this order.
      return [...created, ...tried, ...noted].sort((one, other) => one.at - other.at);
    },
  };
}

function toHistoryEntries({
  number,
  channel,
  upstreamId,
  outcome,
  error,
  startedAt,
  endedAt = startedAt,
}: Attempt): readonly HistoryEntry[] {
  const started = toHistoryEntry(startedAt, 'attempt_started', { number, channel });
  if (outcome === 'accepted') return [started, toHistoryEntry(endedAt, 'accepted', { number, channel, upstreamId })];
  return outcome === 'refused'
    ? [started, toHistoryEntry(endedAt, 'attempt_refused', { number, channel, error })]
    : [started];
}

function toHistoryEntry(at: number, type: string, detail: object): HistoryEntry {
  return { at, type, detailJson: JSON.stringify(detail) };
}
