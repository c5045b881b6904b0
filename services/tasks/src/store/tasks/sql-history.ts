import type { Sql } from '@reelgate/platform/sql/sql';
import { optionalNumber, optionalText, text } from './task-rows.ts';
import type { Attempt, ReadStore } from '../task-store.ts';

interface Happened {
  readonly at: number;
  readonly type: string;
  readonly detailJson: string;
}

/**
 * What happened to a task. That it was created, and what was tried and taken, its row and its attempts say; writing it once more would
 * be a third of what a create writes. Everything else is noted.
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
        happened(Number(row['created_at']), 'created', {}),
      );
      const tried = (await attempts(taskId)).flatMap(toldBy);
      const noted = (
        await sql.read('SELECT at, type, detail_json FROM task_events WHERE task_id = $1 ORDER BY id', [taskId])
      ).map((row) => ({ at: Number(row['at']), type: text(row['type']), detailJson: text(row['detail_json']) }));
      // Of one moment, in this order.
      return [...created, ...tried, ...noted].sort((one, other) => one.at - other.at);
    },
  };
}

function toldBy({
  number,
  channel,
  upstreamId,
  outcome,
  error,
  startedAt,
  endedAt = startedAt,
}: Attempt): readonly Happened[] {
  const started = happened(startedAt, 'attempt_started', { number, channel });
  if (outcome === 'accepted') return [started, happened(endedAt, 'accepted', { number, channel, upstreamId })];
  return outcome === 'refused'
    ? [started, happened(endedAt, 'attempt_refused', { number, channel, error })]
    : [started];
}

function happened(at: number, type: string, detail: object): Happened {
  return { at, type, detailJson: JSON.stringify(detail) };
}
