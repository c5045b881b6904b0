import type { NewId } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { WebhookStore } from '../webhook-store.ts';
import { sqlAttempts } from './sql-attempts.ts';
import { sqlDeliveryReads } from './sql-delivery-reads.ts';
import { sqlDispatch } from './sql-dispatch.ts';
import { sqlEndpoints } from './sql-endpoints.ts';
import { sqlEvents } from './sql-events.ts';
import { sqlLeasedReceivers } from './sql-leased-receivers.ts';
import { sqlResends } from './sql-resends.ts';
import { sqlSecrets } from './sql-secrets.ts';
import { sqlWebhookBacklog } from './sql-webhook-backlog.ts';
import { sqlWebhookRetention } from './sql-webhook-retention.ts';

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
