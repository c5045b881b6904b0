import type { Clock } from '@reelgate/platform/clock';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { GaugeSampler, Point } from '@reelgate/platform/metrics/sampled-gauges';
import type { DisabledReason } from '../domain/webhook.ts';
import type { AttemptOutcome, DeliveryCounts } from '../operations/webhooks/record-attempts.ts';
import type { WebhookBacklogStore } from '../store/webhook-store.ts';

const WHOLE = 'over the whole database: aggregate with max';

const OUTCOMES: readonly AttemptOutcome[] = ['delivered', 'to_repeat', 'given_up'];
/** An owner that disables an endpoint is not counted. */
const REASONS: readonly DisabledReason[] = ['gone', 'failing'];
/** An attempt takes 15 seconds at most. */
const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** The counters of deliveries. What alerts watch begins at 0. */
export function webhookMetrics(metrics: Metrics): DeliveryCounts {
  const attempts = metrics.counter(
    'reelgate_webhook_attempts_total',
    'Attempts to deliver a webhook, by what followed: delivered, to_repeat, given_up',
    ['outcome'],
  );
  attempts.begin(() => OUTCOMES.map((outcome) => [outcome]));
  const took = metrics.histogram(
    'reelgate_webhook_attempt_seconds',
    'Time of an attempt to deliver a webhook',
    SECONDS,
    ['outcome'],
  );
  const disabled = metrics.counter(
    'reelgate_webhook_endpoints_disabled_total',
    'Webhook endpoints that were disabled because of their answers, by reason',
    ['reason'],
  );
  disabled.begin(() => REASONS.map((reason) => [reason]));
  return {
    webhookAttempt: (outcome, durationMs) => {
      attempts.labels(outcome).inc();
      took.labels(outcome).observe(Math.max(0, durationMs) / 1000);
    },
    endpointDisabled: (reason) => disabled.labels(reason).inc(),
  };
}

/** Adds the gauges of events that wait to be dispatched and deliveries that wait to be sent. */
export function watchWebhooks(
  sampler: GaugeSampler,
  { webhooks, clock }: { readonly webhooks: WebhookBacklogStore; readonly clock: Clock },
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
