import type { SqlQuery, Sql } from '../sql/sql.ts';

export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  /** The message as JSON. */
  readonly payload: string;
}

const BATCH_MAX = 200;
/** So many texts of statements there are, whatever the number of events. */
const REMOVALS = [1, 16, BATCH_MAX] as const;

/** Stages an event in the transaction of the fact that it reports: both are kept or neither. */
export async function stageEvent(query: SqlQuery, event: OutboxEvent, now: number): Promise<void> {
  await query('INSERT INTO outbox (id, type, payload, created_at) VALUES ($1, $2, $3, $4)', [
    event.id,
    event.type,
    event.payload,
    now,
  ]);
}

/**
 * One pass: hands the oldest staged events to `publish` and removes those that it took; gives how many. An event whose publishing
 * fails stays, and so does one whose removal is lost: it is then published again, under the same id.
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

/** All with one statement; the last id stands in for those that are missing to its size. */
async function remove(sql: Sql, ids: readonly string[]): Promise<void> {
  const size = REMOVALS.find((most) => most >= ids.length) ?? BATCH_MAX;
  const values = Array.from({ length: size }, (_, index) => ids[index] ?? ids.at(-1) ?? '');
  await sql.write(
    `DELETE FROM outbox WHERE id IN (${values.map((_, index) => `$${String(index + 1)}`).join(', ')})`,
    values,
  );
}
