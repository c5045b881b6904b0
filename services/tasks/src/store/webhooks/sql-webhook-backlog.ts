import type { Sql } from '@reelgate/platform/sql/sql';
import { optionalNumber } from '../tasks/task-rows.ts';
import type { WebhookBacklogStore } from '../webhook-store.ts';

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

export function sqlWebhookBacklog(sql: Sql): WebhookBacklogStore {
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
