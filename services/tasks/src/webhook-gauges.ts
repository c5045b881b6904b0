import type { Clock } from '@reelgate/platform/clock';
import type { GaugeSampler, Point } from '@reelgate/platform/metrics/sampled-gauges';
import type { WebhookBacklogStore } from './store/webhook-store.ts';

const WHOLE = 'over the whole database: aggregate with max';

/** Adds the gauges of what waits to be dispatched and to be delivered. */
export function watchWebhooks(
  sampler: GaugeSampler,
  { webhooks, clock }: { readonly webhooks: WebhookBacklogStore; readonly clock: Pick<Clock, 'now'> },
): void {
  const age = (since: number | undefined): readonly Point[] => [
    { labels: [], value: since === undefined ? 0 : Math.max(0, clock.now() - since) / 1000 },
  ];
  sampler.add(
    [
      { name: 'reelgate_events_undispatched', help: `Events that are in no stream yet, ${WHOLE}` },
      { name: 'reelgate_events_undispatched_oldest_seconds', help: `Age of the oldest of them, ${WHOLE}` },
    ],
    async () => {
      const { count, oldestAt } = await webhooks.countUndispatchedEvents();
      return [[{ labels: [], value: count }], age(oldestAt)];
    },
  );
  sampler.add(
    [
      { name: 'reelgate_webhook_deliveries_pending', help: `Webhook deliveries that have not ended, ${WHOLE}` },
      { name: 'reelgate_webhook_due_lag_seconds', help: `How late the oldest due delivery is, ${WHOLE}` },
    ],
    async () => {
      const { count, oldestDueAt } = await webhooks.countPendingDeliveries();
      return [[{ labels: [], value: count }], age(oldestDueAt)];
    },
  );
  sampler.add(
    [{ name: 'reelgate_webhook_endpoints_off', help: `Webhook endpoints that are disabled, ${WHOLE}` }],
    async () => [[{ labels: [], value: await webhooks.countDisabledEndpoints() }]],
  );
}
