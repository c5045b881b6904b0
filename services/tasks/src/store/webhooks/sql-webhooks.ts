import { firstIdAt } from '@reelgate/platform/ids';
import type { NewId } from '@reelgate/platform/ids';
import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql } from '@reelgate/platform/sql/sql';
import { optionalNumber, text } from '../columns.ts';
import type { WebhookBacklogStore, WebhookRetentionStore, WebhookStore } from '../webhook-store.ts';
import { sqlDeliveryReads, sqlResends } from './sql-deliveries.ts';
import { sqlEndpoints, sqlSecrets } from './sql-endpoints.ts';
import { sqlDispatch, sqlEvents } from './sql-events.ts';
import { sqlAttempts, sqlLeasedReceivers } from './sql-leased-receivers.ts';

export function sqlWebhooks(sql: Sql, newId: NewId): WebhookStore {
  return {
    ...sqlEndpoints(sql),
    ...sqlSecrets(sql),
    ...sqlEvents(sql),
    ...sqlDispatch(sql, newId),
    ...sqlLeasedReceivers(sql),
    ...sqlAttempts(sql),
    ...sqlDeliveryReads(sql),
    ...sqlResends(sql),
    ...sqlWebhookRetention(sql),
    ...sqlWebhookBacklog(sql),
  };
}

const OLD_DELIVERIES = `SELECT id FROM webhook_deliveries
  WHERE id < $1 AND due_at IS NULL ORDER BY id LIMIT $2`;
/** Only the first events are looked at: a later one is not much older. */
const OLD_EVENTS = `SELECT id FROM (
    SELECT id, created_at FROM events WHERE seq IS NOT NULL ORDER BY seq LIMIT $2
  ) AS oldest WHERE created_at < $1`;
const IDLE_RECEIVERS = `SELECT id FROM webhook_receivers
  WHERE due_at IS NULL AND updated_at < $1 ORDER BY updated_at LIMIT $2`;

/** Removes records that ended long ago. A row that another process removes at the same time is left to it. */
function sqlWebhookRetention(sql: Sql): WebhookRetentionStore {
  const among = (table: string, rows: number, stillOld: string): string =>
    `SELECT id FROM ${table} WHERE id IN (${parameters(rows)}) ${stillOld} ${sql.skipLocked}`;
  const LOCK_DELIVERIES = byRows((rows) => among('webhook_deliveries', rows, 'AND due_at IS NULL'));
  const REMOVE_ATTEMPTS = byRows((rows) => `DELETE FROM webhook_attempts WHERE delivery_id IN (${parameters(rows)})`);
  const REMOVE_DELIVERIES = byRows((rows) => `DELETE FROM webhook_deliveries WHERE id IN (${parameters(rows)})`);
  const REMOVE_EVENTS = byRows((rows) => `DELETE FROM events WHERE id IN (${among('events', rows, '')})`);
  const REMOVE_RECEIVERS = byRows(
    (rows) => `DELETE FROM webhook_receivers WHERE id IN (${among('webhook_receivers', rows, 'AND due_at IS NULL')})`,
  );
  const find = async (statement: string, before: string | number, limit: number): Promise<readonly string[][]> =>
    inChunks((await sql.read(statement, [before, limit])).map((row) => text(row['id'])));
  const removeDeliveries = (chunk: readonly string[]): Promise<number> =>
    sql.transaction(async (query) => {
      const locked = await query(LOCK_DELIVERIES(chunk.length), chunk);
      let removed = 0;
      for (const ids of inChunks(locked.map((row) => text(row['id'])))) {
        const [, count] = await Promise.all([
          query.changes(REMOVE_ATTEMPTS(ids.length), ids),
          query.changes(REMOVE_DELIVERIES(ids.length), ids),
        ]);
        removed += count;
      }
      return removed;
    });
  return {
    removeOldWebhooks: async ({ before, limit }) => {
      let removed = 0;
      for (const chunk of await find(OLD_DELIVERIES, firstIdAt('whd', before), limit))
        removed += await removeDeliveries(chunk);
      for (const chunk of await find(OLD_EVENTS, before, limit))
        removed += await sql.transaction((query) => query.changes(REMOVE_EVENTS(chunk.length), chunk));
      for (const chunk of await find(IDLE_RECEIVERS, before, limit))
        removed += await sql.transaction((query) => query.changes(REMOVE_RECEIVERS(chunk.length), chunk));
      return removed;
    },
  };
}

/** Beyond it, the numbers no longer grow. */
const COUNTED_MAX = 10_000;
/** Receivers bring their first delivery, so there are far fewer of them to look at. */
const PENDING = `SELECT COUNT(*) AS count, (
    SELECT due_at FROM webhook_receivers WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1
  ) AS oldest
  FROM (
    SELECT id FROM webhook_deliveries WHERE due_at IS NOT NULL ORDER BY receiver_id, due_at LIMIT $1
  ) AS pending`;
const DISABLED = `SELECT COUNT(*) AS count FROM (
    SELECT disabled_reason FROM webhook_endpoints
    WHERE disabled_at IS NOT NULL AND disabled_reason IN ('gone', 'failing') LIMIT $1
  ) AS disabled`;
const UNDISPATCHED = `SELECT COUNT(*) AS count, MIN(created_at) AS oldest FROM (
    SELECT created_at FROM events WHERE seq IS NULL ORDER BY created_at, id LIMIT $1
  ) AS waiting`;

function sqlWebhookBacklog(sql: Sql): WebhookBacklogStore {
  return {
    countPendingDeliveries: async () => {
      const [row] = await sql.read(PENDING, [COUNTED_MAX]);
      return { count: Number(row?.['count'] ?? 0), oldestDueAt: optionalNumber(row?.['oldest']) };
    },
    countDisabledEndpoints: async () => Number((await sql.read(DISABLED, [COUNTED_MAX]))[0]?.['count'] ?? 0),
    countUndispatchedEvents: async () => {
      const [row] = await sql.read(UNDISPATCHED, [COUNTED_MAX]);
      return { count: Number(row?.['count'] ?? 0), oldestAt: optionalNumber(row?.['oldest']) };
    },
  };
}
