import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { WebhookRetentionStore } from '../../store/webhook-store.ts';
import type { WebhookLimits } from '../webhooks/webhook-deps.ts';

const BATCH_MAX = 500;

export interface WebhookRetentionDeps {
  readonly webhooks: WebhookRetentionStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: WebhookLimits;
}

/** One pass that removes events and ended deliveries that are older than the retention time, in one small batch. */
export async function removeOldWebhooks({ webhooks, clock, log, limits }: WebhookRetentionDeps): Promise<number> {
  const removed = await webhooks.removeOldWebhooks({ before: clock.now() - limits.retentionMs, limit: BATCH_MAX });
  if (removed > 0) log.info({ removed }, 'old events and deliveries were removed');
  // Zero makes the worker wait before the next batch, however much is left.
  return 0;
}
