import type { SqlQuery, Sql } from './sql.ts';

export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  /** The message as JSON. */
  readonly payload: string;
}

const BATCH_MAX = 200;

/** Stages an event in the transaction of the fact that it reports: both are kept or neither. */
export async function stageEvent(query: SqlQuery, event: OutboxEvent, now: number): Promise<void> {
  await query('INSERT INTO outbox (id, type, payload, created_at) VALUES ($1, $2, $3, $4)', [event.id, event.type, event.payload, now]);
}

/**
 * One pass: hands the oldest staged events to `publish` and removes those that it took; gives how many. An event whose publishing
 * fails stays, and so does one whose removal is lost: it is then published again, under the same id.
 */
export async function relayOutbox(sql: Sql, publish: (event: OutboxEvent) => Promise<void>): Promise<number> {
  const rows = await sql.read<{ id: string; type: string; payload: string }>('SELECT id, type, payload FROM outbox ORDER BY id LIMIT $1', [BATCH_MAX]);
  const outcomes = await Promise.allSettled(rows.map(publish));
  const done = rows.filter((_row, index) => outcomes[index]?.status === 'fulfilled');
  for (const row of done) await sql.write('DELETE FROM outbox WHERE id = $1', [row.id]);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return done.length;
}
