import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { DisabledReason } from './domain/webhook.ts';
import type { AttemptOutcome, DeliveryCounts } from './operations/webhooks/record-attempts.ts';

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
    endpointDisabled: (reason) => {
      disabled.labels(reason).inc();
    },
  };
}
