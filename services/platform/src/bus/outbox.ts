import type { SqlQuery, Sql } from '../sql/sql.ts';

export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  /** The message as JSON. */
  readonly payload: string;
}

const BATCH_MAX = 200;
/** The sizes of the statements, so that their number does not grow with the number of events. */
const REMOVALS = [1, 16, BATCH_MAX] as const;

/** Stages an event in the transaction of the fact that it reports: both are stored, or neither. */
export async function stageEvent(query: SqlQuery, event: OutboxEvent, now: number): Promise<void> {
  await query('INSERT INTO outbox (id, type, payload, created_at) VALUES ($1, $2, $3, $4)', [
    event.id,
    event.type,
    event.payload,
    now,
  ]);
}

/**
 * One pass: publishes the oldest staged events and removes them. Gives their number. An event stays if its publishing
 * fails, or if its removal is lost; then it is published again under the same id.
 */
export async function relayOutbox(sql: Sql, publish: (event: OutboxEvent) => Promise<void>): Promise<number> {
  const rows = await sql.read<{ id: string; type: string; payload: string }>(
    'SELECT id, type, payload FROM outbox ORDER BY id LIMIT $1',
    [BATCH_MAX],
  );
  const outcomes = await Promise.allSettled(rows.map(publish));
  const done = rows.filter((_row, index) => outcomes[index]?.status === 'fulfilled');
  if (done.length > 0)
    await remove(
      sql,
      done.map(({ id }) => id),
    );
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return done.length;
}

/** Removes all ids with one statement. Copies of the last id fill it up to its size. */
async function remove(sql: Sql, ids: readonly string[]): Promise<void> {
  const size = REMOVALS.find((most) => most >= ids.length) ?? BATCH_MAX;
  const values = Array.from({ length: size }, (_, index) => ids[index] ?? ids.at(-1) ?? '');
  await sql.write(
    `DELETE FROM outbox WHERE id IN (${values.map((_, index) => `$${String(index + 1)}`).join(', ')})`,
    values,
  );
}
