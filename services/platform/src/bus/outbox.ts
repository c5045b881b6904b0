import type { Clock } from '../clock.ts';
import type { GaugeSampler } from '../metrics/sampled-gauges.ts';
import { idList } from '../sql/multi-row.ts';
import type { Sql, SqlStatement } from '../sql/sql.ts';

export interface OutboxEvent {
  readonly id: string;
  readonly type: string;
  /** The message as JSON. */
  readonly payload: string;
  /** The carrier of the fact that it reports, undefined if that fact is not recorded. */
  readonly carrier?: string | undefined;
}

/** The maximum number of events in one pass. */
export const OUTBOX_BATCH_MAX = 200;

/** Stages an event in the transaction of the fact that it reports: both are stored, or neither. */
export function buildStagedEvent(event: OutboxEvent, now: number): SqlStatement {
  return [
    'INSERT INTO outbox (id, type, payload, created_at, trace) VALUES ($1, $2, $3, $4, $5)',
    [event.id, event.type, event.payload, now, event.carrier ?? null],
  ];
}

/**
 * Runs one pass: publishes the oldest staged events and removes them. Returns their number. An event stays if its
 * publishing fails, or if its removal is lost. Then it is published again under the same id.
 */
export async function relayOutbox(sql: Sql, publish: (event: OutboxEvent) => Promise<void>): Promise<number> {
  const rows = await sql.read<Row>('SELECT id, type, payload, trace FROM outbox ORDER BY id LIMIT $1', [
    OUTBOX_BATCH_MAX,
  ]);
  const outcomes = await Promise.allSettled(rows.map(async (row) => publish(fromRow(row))));
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

type Row = Readonly<{ id: string; type: string; payload: string; trace: string | null }>;

function fromRow({ id, type, payload, trace }: Row): OutboxEvent {
  return { id, type, payload, ...(trace === null ? {} : { carrier: trace }) };
}

/** Removes all ids with one statement. */
async function remove(sql: Sql, ids: readonly string[]): Promise<void> {
  const { parameters, values } = idList(ids, OUTBOX_BATCH_MAX);
  await sql.write(`DELETE FROM outbox WHERE id IN (${parameters})`, values);
}

/** Beyond it, the counted number of staged events no longer grows. */
const COUNTED_MAX = 10_000;
const WHOLE = 'over the whole database: aggregate with max';

/** Adds the gauges of the events that wait to be published: their number, and the time that the first has waited. */
export function watchOutbox(
  sampler: GaugeSampler,
  { sql, service, clock }: { readonly sql: Sql; readonly service: string; readonly clock: Clock },
): void {
  sampler.add(
    [
      { name: 'reelgate_outbox_rows', help: `Events that wait to be published, ${WHOLE}`, labelNames: ['service'] },
      {
        name: 'reelgate_outbox_oldest_seconds',
        help: `How long the first of them has waited, ${WHOLE}`,
        labelNames: ['service'],
      },
    ],
    async () => {
      const [row] = await sql.read<{ count: number; oldest: number | null }>(
        `SELECT COUNT(*) AS count, MIN(created_at) AS oldest FROM (
           SELECT created_at FROM outbox ORDER BY id LIMIT $1) staged`,
        [COUNTED_MAX],
      );
      const since = row?.oldest ?? clock.now();
      return [
        [{ labels: [service], value: row?.count ?? 0 }],
        [{ labels: [service], value: Math.max(0, clock.now() - since) / 1000 }],
      ];
    },
  );
}
