import type { NewId } from '@reelgate/platform/ids';
import type { Sql, SqlQuery, SqlStatement } from '@reelgate/platform/sql/sql';
import {
  inNumber,
  inOptionalNumber,
  inOptionalText,
  inText,
  recordColumns,
  selectNumber,
  toInsert,
} from '../columns.ts';
import type { Attempt, HistoryEntry, HistoryReader, Note } from '../task-store.ts';

export const ATTEMPT = recordColumns<Attempt>({
  number: inNumber('number'),
  channel: inText('channel'),
  upstreamId: inOptionalText('upstream_id'),
  outcome: inText('outcome'),
  error: inOptionalText('error'),
  fault: inOptionalText('fault'),
  startedAt: inNumber('started_at'),
  endedAt: inOptionalNumber('ended_at'),
});

const ENTRY = recordColumns<HistoryEntry>({
  at: inNumber('at'),
  type: inText('type'),
  detailJson: inText('detail_json'),
});

/** Writes an entry of the history of a task, in the transaction of the change. */
export interface WriteNote {
  (query: SqlQuery, taskId: string, at: number, note: Note): Promise<void>;
  /** The statement that writes it. Later entries have greater ids. */
  readonly build: (taskId: string, at: number, note: Note) => SqlStatement;
}

export function sqlNotes(newId: NewId): WriteNote {
  const build: WriteNote['build'] = (taskId, at, { type, detail = {} }) => {
    const entry = ENTRY.write(toHistoryEntry(at, type, detail));
    return toInsert('task_events', { id: newId('ev'), task_id: taskId, ...entry });
  };
  const write = async (query: SqlQuery, ...entry: Parameters<WriteNote['build']>): Promise<void> => {
    await query(...build(...entry));
  };
  return Object.assign(write, { build });
}

/**
 * The history of a task. Its creation and its attempts are derived from their own rows, because separate entries would
 * be a third of the writes of a create. Everything else has an entry of its own.
 */
export function sqlHistory(sql: Sql): HistoryReader {
  const attempts = (taskId: string): Promise<readonly Attempt[]> =>
    ATTEMPT.selectFrom(sql.read, 'attempts WHERE task_id = $1 ORDER BY number', [taskId]);
  return {
    attempts,
    events: async (taskId) => {
      const createdAt = await selectNumber(sql.read, 'created_at', 'tasks WHERE id = $1', [taskId]);
      const created = createdAt === undefined ? [] : [toHistoryEntry(createdAt, 'created', {})];
      const tried = (await attempts(taskId)).flatMap(toHistoryEntries);
      const noted = await ENTRY.selectFrom(sql.read, 'task_events WHERE task_id = $1 ORDER BY id', [taskId]);
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
